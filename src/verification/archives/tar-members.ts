import { isUtf8 } from "node:buffer";
import { ByteReader } from "./byte-reader.ts";
import { ArchiveRefused, type HeaderBudget } from "./limits.ts";
import type { ListedMember } from "./members.ts";
import {
  longestAttributes,
  parseLongText,
  parsePaxRecords,
  refuseGlobalAttributes,
  type TarAttributes,
} from "./tar-attributes.ts";
import {
  blockBytes,
  isZero,
  parseTarBlock,
  type TarBlock,
} from "./tar-block.ts";

const kinds: Readonly<Record<string, ListedMember["kind"]>> = {
  "0": "file",
  "\0": "file",
  "7": "file",
  "1": "hard link",
  "2": "symbolic link",
  "5": "directory",
};

/** The bits of a mode that some readers believe before the type. */
const typeBits: Readonly<Record<ListedMember["kind"], number>> = {
  file: 0o100000,
  directory: 0o040000,
  "symbolic link": 0o120000,
  "hard link": 0o100000,
};

/**
 * The members of a tar, without their content (POSIX pax interchange format, with GNU's long names). Throws ArchiveRefused for devices, sparse
 * files and what readers could take for different things. A library that reads what it can instead of refusing it would not do: see
 * test/verification/archives/differing-archives.test.ts.
 */
export async function* listTarMembers(
  bytes: AsyncIterable<Uint8Array>,
  budget: HeaderBudget,
): AsyncGenerator<ListedMember> {
  const tar = new Tar(bytes, budget);
  for (;;) {
    const block = await tar.readBlock();
    if (block === undefined) return;
    if (await tar.readAttributes(block)) continue;
    budget.takeMember();
    yield await tar.readMember(block);
  }
}

/** Of the next member, with what they came from: it may have them from one kind of header alone. */
type Pending = TarAttributes & { readonly from: string };

class Tar {
  readonly #reader: ByteReader;
  readonly #budget: HeaderBudget;
  #at = 0;
  #pending: Pending | undefined;

  constructor(bytes: AsyncIterable<Uint8Array>, budget: HeaderBudget) {
    this.#reader = new ByteReader(bytes);
    this.#budget = budget;
  }

  /** Undefined at the end, after which there are only zeros. */
  async readBlock(): Promise<TarBlock | undefined> {
    const block = await this.#read(blockBytes);
    if (block.length > 0 && block.length < blockBytes) throw cutShort();
    if (isZero(block)) {
      await this.#expectEnd();
      return undefined;
    }
    this.#budget.takeHeader();
    return parseTarBlock(block);
  }

  /** True when the header was one of those that stand before another. */
  async readAttributes({ type, size }: TarBlock): Promise<boolean> {
    if (!"xgLK".includes(type)) return false;
    if (size > longestAttributes)
      throw new ArchiveRefused("a member has too many attributes");
    this.#budget.takeText(size);
    const bytes = await this.#readContent(size);
    this.#pending = this.#join(type, bytes);
    return true;
  }

  async readMember(block: TarBlock): Promise<ListedMember> {
    const { name, target, size } = { ...block, ...this.#pending };
    if (size !== block.size)
      throw new ArchiveRefused("a member has two different sizes");
    this.#pending = undefined;
    this.#budget.takeText(name.length + target.length);
    const member = describe({ ...block, name, target, size });
    const contentStart = this.#at;
    if (!(await this.#reader.skip(padded(size)))) throw cutShort();
    this.#at += padded(size);
    return { ...member, contentStart };
  }

  #join(type: string, bytes: Buffer): Pending | undefined {
    const before = this.#pending;
    const isOtherText =
      before !== undefined && "LK".includes(type) && "LK".includes(before.from);
    if (before !== undefined && (!isOtherText || before.from === type))
      throw new ArchiveRefused("a member has attributes from several headers");
    if (type === "g") {
      refuseGlobalAttributes(bytes);
      return undefined;
    }
    if (type === "x") return { ...parsePaxRecords(bytes), from: type };
    const text = parseLongText(bytes);
    const more = type === "L" ? { name: text } : { target: text };
    // A long name and a long target may both stand before a member, each once.
    return { ...before, ...more, from: before === undefined ? type : "both" };
  }

  /** One block of zeros or two, more of them, and nothing else: some readers stop at the first and some at none. */
  async #expectEnd(): Promise<void> {
    if (this.#pending !== undefined)
      throw new ArchiveRefused("it ends with attributes of no member");
    const second = await this.#read(blockBytes);
    if (second.length > 0 && second.length < blockBytes) throw cutShort();
    for (let rest = second; rest.length > 0; rest = await this.#read(1 << 15))
      if (!isZero(rest)) throw new ArchiveRefused("it has data after its end");
  }

  async #readContent(size: number): Promise<Buffer> {
    const bytes = await this.#read(padded(size));
    if (bytes.length < padded(size)) throw cutShort();
    return bytes.subarray(0, size);
  }

  async #read(length: number): Promise<Buffer> {
    const bytes = await this.#reader.readUpTo(length);
    this.#at += bytes.length;
    return bytes;
  }
}

function describe({
  type,
  name,
  target,
  size,
  mode,
}: TarBlock): Omit<ListedMember, "contentStart"> {
  const endsInSlash = name.at(-1) === 0x2f;
  const kind = type === "\0" && endsInSlash ? "directory" : kinds[type];
  if (kind === undefined) throw new ArchiveRefused(describeType(type));
  const bits = mode & ~0o7777;
  if (bits !== 0 && bits !== typeBits[kind])
    throw new ArchiveRefused(`a ${kind} has the mode of something else`);
  if (endsInSlash && kind !== "directory")
    throw new ArchiveRefused(`a ${kind} has the name of a directory`);
  // Links and directories have no content whatever they say.
  if (kind !== "file" && size !== 0)
    throw new ArchiveRefused(`a ${kind} has content`);
  const isLink = kind === "symbolic link" || kind === "hard link";
  return {
    name: decode(name),
    kind,
    size,
    target: isLink ? decode(target) : undefined,
  };
}

function decode(text: Buffer): string {
  if (!isUtf8(text)) throw new ArchiveRefused("a name is not UTF-8");
  return text.toString("utf8");
}

function padded(size: number): number {
  return Math.ceil(size / blockBytes) * blockBytes;
}

function cutShort(): ArchiveRefused {
  return new ArchiveRefused("it is cut short");
}

function describeType(type: string): string {
  const devices: Readonly<Record<string, string>> = {
    "3": "a character device",
    "4": "a block device",
    "6": "a named pipe",
    S: "a sparse file",
  };
  return `it has ${devices[type] ?? "a member of an unknown type"}`;
}
