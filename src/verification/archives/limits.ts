/** Bounds on the content of an archive and on the cost of expanding it. */
export interface ArchiveLimits {
  readonly entries: number;
  /** Bytes of all entries together, once expanded. */
  readonly expandedBytes: number;
  /** Expanded bytes to one byte of archive. */
  readonly ratio: number;
  /** That `ratio` leaves alone, since small archives of much emptiness are no bombs. */
  readonly harmlessBytes: number;
}

const GiB = 2 ** 30;

export const packageLimits: ArchiveLimits = {
  entries: 4_096,
  expandedBytes: 8 * GiB,
  ratio: 200,
  harmlessBytes: 0,
};

export const moduleLimits: ArchiveLimits = {
  entries: 20_000,
  expandedBytes: GiB,
  ratio: 200,
  harmlessBytes: 2 ** 20,
};

export class ArchiveRefused extends Error {}

export function refuseBomb(
  expanded: number,
  size: number,
  { expandedBytes, ratio, harmlessBytes }: ArchiveLimits,
): void {
  if (expanded > expandedBytes)
    throw new ArchiveRefused(`it expands to more than ${expandedBytes} bytes`);
  if (expanded > ratio * size + harmlessBytes)
    throw new ArchiveRefused(`it expands to more than ${ratio} times its size`);
}
