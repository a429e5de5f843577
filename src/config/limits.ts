/**
 * What no operator has a reason to set: bytes (`rate`: bytes a second), milliseconds, or a number of things. They are
 * part of the configuration so that tests can have others.
 */
const fixedLimits = {
  /** Of a git repository of a module: of each file and of all. */
  gitRepository: 2 ** 30,
  /** Of each process of git. */
  gitMemory: 2 ** 29,
  /** Until an answer of an origin begins. */
  firstByte: 10_000,
  /** Metadata is answered or given up within; clients wait 10 s. */
  answer: 7_000,
  /** At least, over a minute, of origins and clients. */
  rate: 65_536,
  /** Archives that are fetched from one origin at once. */
  fillsPerOrigin: 8,
  /** On SIGTERM, for answers under way. */
  stop: 25_000,
  /** For which an absence that an origin reported is remembered, unless lists of versions are fresh for less. */
  absence: 30_000,
  /** Life of a signed archive URL. */
  archiveUrls: 3_600_000,
};

interface WrittenLimits {
  readonly archive: number;
  readonly connections: number;
}

export type Limits = WrittenLimits & Readonly<typeof fixedLimits>;

export function completeLimits(written: WrittenLimits): Limits {
  return { ...fixedLimits, ...written };
}
