/** What a field of a struct takes. (Its sign is in its name, for who reads the declaration.) */
export interface Field {
  readonly size: number;
  readonly align: number;
}

const scalar = (bytes: 1 | 2 | 4 | 8): Field => ({ size: bytes, align: bytes });

export const u8 = scalar(1);
export const u16 = scalar(2);
export const u32 = scalar(4);
export const i32 = scalar(4);
export const u64 = scalar(8);
export const i64 = scalar(8);

export function array({ size, align }: Field, count: number): Field {
  return { size: size * count, align };
}

export interface StructLayout<Name extends string> extends Field {
  /** Byte offset of each field. */
  readonly at: Readonly<Record<Name, number>>;
}

/**
 * Lays a C struct out as the x86_64 and aarch64 ABIs do: natural alignment, or none if packed. All
 * of them are laid out at every start, so nothing is called for each field.
 */
export function struct<F extends Readonly<Record<string, Field>>>(
  fields: F,
  options: { readonly packed?: boolean } = {},
): StructLayout<Extract<keyof F, string>> {
  const at: Record<string, number> = {};
  let offset = 0;
  let widest = 1;
  for (const name in fields) {
    const { size, align } = fields[name] as Field;
    const step = options.packed === true ? 1 : align;
    offset += -offset & (step - 1);
    at[name] = offset;
    offset += size;
    if (step > widest) widest = step;
  }
  return {
    size: offset + (-offset & (widest - 1)),
    align: widest,
    at: at as Record<keyof F & string, number>,
  };
}
