/** Documents of registries and network mirrors as large as they may be. */

const largest = 8 * 2 ** 20;

/** Versions of the largest list that is accepted. */
export const mostVersions = 5_000;

export const fifteenPlatforms = Array.from({ length: 15 }, (_, n) => ({
  os: `os${n}`,
  arch: "amd64",
}));

export function versionsOf(
  count: number,
  entry: (n: number) => object = () => ({ platforms: fifteenPlatforms }),
) {
  const versions = Array.from({ length: count }, (_, n) => ({
    version: `1.${(n * 7_919) % count}.0`,
    protocols: ["5.0"],
    ...entry(n),
  }));
  return { versions };
}

/**
 * Fills a document with `item`, up to the limit, between `open` and `close`.
 */
export function filledWith(item: string, open = "[", close = "]"): string {
  const room = largest - open.length - close.length - item.length - 2;
  const items = Array<string>(Math.floor(room / (item.length + 1))).fill(item);
  return `${open}${items.join(",")}${close}`;
}
