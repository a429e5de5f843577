/** Documents of registries and network mirrors as large as `limits.originJson` lets them be. */

const largest = 16 * 2 ** 20;

/** Of the largest list that is taken. */
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

export function objectOf(
  count: number,
  value: unknown,
  name = (n: number) => `1.0.${n}`,
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Array.from({ length: count }, (_, n) => [name(n), value]),
  );
}

export const osOf = (n: number) => `os${n}_arch`;

/** As many of `item` as there may be, between `open` and `close`. */
export function filledWith(item: string, open = "[", close = "]"): string {
  const room = largest - open.length - close.length - item.length - 2;
  const items = Array<string>(Math.floor(room / (item.length + 1))).fill(item);
  return `${open}${items.join(",")}${close}`;
}

/** Brackets within brackets. */
export function nested(): string {
  return `{"versions":${"[".repeat(largest / 2 - 10)}${"]".repeat(largest / 2 - 10)}}`;
}
