import fc from 'fast-check';

/** Any Unicode character, as a unit of `fc.string`. Its own unit `binary` takes a second of CPU time to list all of them. */
export const anyCharacter = fc
  .oneof(fc.nat(0xd7ff), fc.integer({ min: 0xe000, max: 0x10ffff }))
  .map((code) => String.fromCodePoint(code));
