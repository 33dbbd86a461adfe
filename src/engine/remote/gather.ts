interface Page {
  readonly limit?: number | undefined;
  readonly offset?: number | undefined;
}

type Listed<Name extends string, Item> = Record<Name, Item[]> & { readonly total: number };

/** A list, whose engine may leave out what makes an answer too long: what was asked for is put together from several. */
export async function gather<Name extends string, Item>(
  name: Name,
  { limit, offset = 0 }: Page,
  ask: (page: Page) => Promise<Listed<Name, Item> & { readonly isCut: boolean }>,
): Promise<Listed<Name, Item>> {
  const { isCut, ...first } = await ask({ limit, offset: offset === 0 ? undefined : offset });
  const items = [...(first as Listed<Name, Item>)[name]];
  for (let goesOn = isCut; goesOn && (limit === undefined || items.length < limit); ) {
    const left = limit === undefined ? undefined : limit - items.length;
    const more = await ask({ limit: left, offset: offset + items.length });
    items.push(...more[name]);
    goesOn = more.isCut && more[name].length > 0;
  }
  return { ...first, [name]: items } as Listed<Name, Item>;
}
