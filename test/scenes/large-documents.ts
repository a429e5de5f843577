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

/** For each major version of hashicorp/aws about its minor ones, and its prereleases. */
const majors = [
  [5, 0],
  [61, 0],
  [71, 1],
  [77, 0],
  [68, 2],
  [101, 0],
  [23, 3],
] as const;

const oldPlatforms =
  "darwin_amd64 freebsd_386 freebsd_amd64 freebsd_arm linux_386 linux_amd64 linux_arm openbsd_386 openbsd_amd64 solaris_amd64 windows_386 windows_amd64".split(
    " ",
  );
const newPlatforms = "linux_arm64 freebsd_arm64 darwin_arm64".split(" ");

/**
 * Versions in a registry's list of a provider like hashicorp/aws: some 600 from
 * 0.1.0 on in no order, with prereleases. Protocols and platforms came with the
 * years. `newestFirst` has their names.
 */
export function listLargeProvider() {
  const entries = majors.flatMap(([minors, prereleases], major) => {
    const protocols = [["4.0"], ["4.0", "5.0"], ["5.0"]][Math.min(2, major)];
    const later = newPlatforms.slice(0, major);
    const platforms = [...oldPlatforms, ...later].map((name) => {
      const [os, arch] = name.split("_");
      return { os, arch };
    });
    const betas = Array.from(
      { length: prereleases },
      (_, n) => `${major}.0.0-beta${n + 1}`,
    );
    const releases = Array.from({ length: minors }, (_, minor) =>
      Array.from(
        { length: 1 + (minor % 2) },
        (_, patch) => `${major}.${minor}.${patch}`,
      ),
    ).flat();
    const names = major === 0 ? releases.slice(1) : releases;
    const all = [...betas, ...names];
    return all.map((version) => ({ version, protocols, platforms }));
  });
  return {
    newestFirst: entries.map(({ version }) => version).toReversed(),
    // 7 919 is a prime, so each is taken once.
    versions: entries.map((_, n) => entries[(n * 7_919) % entries.length]),
  };
}

/**
 * Fills a document with `item`, up to the limit, between `open` and `close`.
 */
export function filledWith(item: string, open = "[", close = "]"): string {
  const room = largest - open.length - close.length - item.length - 2;
  const items = Array<string>(Math.floor(room / (item.length + 1))).fill(item);
  return `${open}${items.join(",")}${close}`;
}

/** Brackets within brackets. */
export function nested(): string {
  return `{"versions":${"[".repeat(largest / 2 - 10)}${"]".repeat(largest / 2 - 10)}}`;
}
