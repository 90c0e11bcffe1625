import { expect, test } from "bun:test";
import { array, i32, i64, struct, u8, u16, u32, u64 } from "../../ffi/abi/struct.ts";

test.each([
  {
    because: "fields of one width lie end to end",
    layout: struct({ a: u32, b: u32, c: i32 }),
    want: { size: 12, align: 4, at: { a: 0, b: 4, c: 8 } },
  },
  {
    because: "a wider field is moved to a multiple of its width",
    layout: struct({ a: u8, b: u16, c: u32, d: u64 }),
    want: { size: 16, align: 8, at: { a: 0, b: 2, c: 4, d: 8 } },
  },
  {
    because: "the end is padded to the widest field",
    layout: struct({ a: u64, b: u8 }),
    want: { size: 16, align: 8, at: { a: 0, b: 8 } },
  },
  {
    because: "a packed struct has no padding, inside or at its end",
    layout: struct({ a: u8, b: u64, c: i32 }, { packed: true }),
    want: { size: 13, align: 1, at: { a: 0, b: 1, c: 9 } },
  },
  {
    because: "an array has the alignment of its elements",
    layout: struct({ a: u8, b: array(u16, 3), c: array(u8, 3), d: i64 }),
    want: { size: 24, align: 8, at: { a: 0, b: 2, c: 8, d: 16 } },
  },
  {
    because: "a struct inside has its own alignment and padding",
    layout: struct({ a: u8, inner: struct({ x: u32, y: u8 }), b: u8 }),
    want: { size: 16, align: 4, at: { a: 0, inner: 4, b: 12 } },
  },
  {
    because: "a packed struct inside may lie anywhere",
    layout: struct({ a: u8, inner: struct({ x: u32 }, { packed: true }), b: u8 }),
    want: { size: 6, align: 1, at: { a: 0, inner: 1, b: 5 } },
  },
  {
    because: "an empty array takes no room but aligns what follows",
    layout: struct({ a: u8, none: array(u64, 0), b: u8 }),
    want: { size: 16, align: 8, at: { a: 0, none: 8, b: 8 } },
  },
])("struct(): $because", ({ layout, want }) => {
  expect<object>(layout).toEqual(want);
});
