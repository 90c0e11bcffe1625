/** A C struct as a declaration: field types in order, from which offsets and size follow. */
export interface Scalar {
  readonly bytes: 1 | 2 | 4 | 8;
  readonly signed: boolean;
}

export const u8: Scalar = { bytes: 1, signed: false };
export const u16: Scalar = { bytes: 2, signed: false };
export const u32: Scalar = { bytes: 4, signed: false };
export const i32: Scalar = { bytes: 4, signed: true };
export const u64: Scalar = { bytes: 8, signed: false };
export const i64: Scalar = { bytes: 8, signed: true };

export interface ArrayField {
  readonly of: Scalar;
  readonly count: number;
}

export function array(of: Scalar, count: number): ArrayField {
  return { of, count };
}

type Field = Scalar | ArrayField | StructLayout<string>;

export interface StructLayout<Name extends string> {
  readonly size: number;
  readonly align: number;
  /** Byte offset of each field. */
  readonly at: Readonly<Record<Name, number>>;
}

function extent(field: Field): { size: number; align: number } {
  if ("at" in field) return { size: field.size, align: field.align };
  if ("of" in field) return { size: field.of.bytes * field.count, align: field.of.bytes };
  return { size: field.bytes, align: field.bytes };
}

const roundUp = (value: number, to: number): number => Math.ceil(value / to) * to;

/** Lays a struct out as the x86_64 and aarch64 ABIs do: natural alignment, or none if packed. */
export function struct<F extends Readonly<Record<string, Field>>>(
  fields: F,
  options: { readonly packed?: boolean } = {},
): StructLayout<Extract<keyof F, string>> {
  const at: Record<string, number> = {};
  let offset = 0;
  let widest = 1;
  for (const [name, field] of Object.entries(fields)) {
    const { size, align } = extent(field);
    const step = options.packed === true ? 1 : align;
    offset = roundUp(offset, step);
    at[name] = offset;
    offset += size;
    widest = Math.max(widest, step);
  }
  return {
    size: roundUp(offset, widest),
    align: widest,
    at: at as Record<keyof F & string, number>,
  };
}
