/** Bounds on an unpacked module. */
export interface PackLimits {
  /** Files. */
  readonly entries: number;
  readonly expandedBytes: number;
}

const mostParts = 256;
const longestPath = 4096;
/**
 * Allowance for each file that a module may have: visited places, and bytes of
 * names.
 */
const nodesPerEntry = 4;
const namesPerEntry = 512;
const mostLinks = 1_000;
const mostFollowed = 10_000;

/**
 * Budget of the work that one repository may cause. Beyond it a RangeError
 * names what was exceeded.
 */
export class PackBudget {
  readonly #limits: PackLimits;
  #nodes: number;
  #names: number;
  #links = mostLinks;
  #followed = mostFollowed;
  #files: number;
  #bytes: number;

  constructor(limits: PackLimits) {
    const { entries, expandedBytes } = limits;
    this.#limits = limits;
    this.#nodes = entries * nodesPerEntry;
    this.#names = entries * namesPerEntry;
    this.#files = entries;
    this.#bytes = expandedBytes;
  }

  /** A file, folder or link that is looked at, each time, under the name that it has there. */
  visit(path: string): void {
    if (--this.#nodes < 0)
      throw tooMany(this.#limits.entries * nodesPerEntry, "files and folders");
    const length = Buffer.byteLength(path);
    if (length > longestPath)
      throw new RangeError(`a path has more than ${longestPath} bytes`);
    if (countParts(path) > mostParts)
      throw new RangeError(`a path has more than ${mostParts} parts`);
    this.#names -= length;
    if (this.#names < 0)
      throw tooMany(this.#limits.entries * namesPerEntry, "bytes of names");
  }

  /** A link, once, with the bytes of its target. */
  readLink(bytes: number): void {
    if (--this.#links < 0) throw tooMany(mostLinks, "links");
    if (bytes > longestPath)
      throw new RangeError("a link has a target that is too long");
  }

  /** Each step from a link to what it leads to. */
  followLink(): void {
    if (--this.#followed < 0)
      throw tooMany(mostFollowed, "steps through links");
  }

  /** A file of the archive. */
  keepFile(bytes: number): void {
    if (--this.#files < 0) throw tooMany(this.#limits.entries, "members");
    this.#bytes -= bytes;
    if (this.#bytes < 0) throw tooMany(this.#limits.expandedBytes, "bytes");
  }
}

function tooMany(most: number, what: string): RangeError {
  return new RangeError(`it has more than ${most} ${what}`);
}

function countParts(path: string): number {
  let parts = 1;
  for (let at = path.indexOf("/"); at >= 0; at = path.indexOf("/", at + 1))
    parts++;
  return parts;
}
