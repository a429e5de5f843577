import { buffer } from "node:stream/consumers";
import {
  startGit,
  type GitSurroundings,
} from "../../../origin/git/git-process.ts";
import { ByteReader } from "../../../verification/archives/byte-reader.ts";

/** What git says of an object before its content (git-cat-file, "BATCH OUTPUT"). */
export interface ObjectHead {
  readonly id: string;
  readonly type: string;
  /** Bytes. */
  readonly size: number;
}

const longestHead = 200;
const piece = 256 * 1024;

/** The objects of a repository that is here, one after the other, in the order in which they are asked for; close it when done. */
export class GitObjects {
  readonly #git: ReturnType<typeof startGit>;
  readonly #reader: ByteReader;

  /** `contents` is false where only the heads are of interest. */
  constructor(repository: GitSurroundings, contents: boolean) {
    const batch = contents ? "--batch" : "--batch-check";
    this.#git = startGit(["cat-file", batch], repository);
    this.#git.ended.catch(() => undefined);
    this.#reader = new ByteReader(this.#git.child.stdout);
  }

  /** Names as git-rev-parse reads them; checked by the caller. */
  ask(...names: readonly string[]): void {
    this.#git.child.stdin.write(names.map((name) => `${name}\n`).join(""));
  }

  /** Throws RangeError for an object that the repository does not have. */
  async readHead(): Promise<ObjectHead> {
    const line = await this.#readLine();
    const [, id, type, size] =
      /^([0-9a-f]{40,64}) (blob|tree|commit|tag) ([0-9]+)$/.exec(line) ?? [];
    if (id === undefined || type === undefined)
      throw new RangeError(`git gave ${JSON.stringify(line)} for an object`);
    return { id, type, size: Number(size) };
  }

  async *readPieces({ size }: ObjectHead): AsyncGenerator<Buffer> {
    for (let left = size; left > 0; left -= Math.min(left, piece))
      yield await this.#read(Math.min(left, piece));
    await this.#read(1);
  }

  /** The whole content of a small object. */
  async readWhole(head: ObjectHead): Promise<Buffer> {
    return buffer(this.readPieces(head));
  }

  close(): void {
    this.#git.child.kill();
  }

  async #readLine(): Promise<string> {
    let line = "";
    while (line.length < longestHead) {
      const byte = (await this.#reader.readUpTo(1)).toString("latin1");
      if (byte === "") await this.#git.ended;
      if (byte === "" || byte === "\n") break;
      line += byte;
    }
    return line;
  }

  async #read(length: number): Promise<Buffer> {
    const bytes = await this.#reader.readUpTo(length);
    if (bytes.length < length) {
      await this.#git.ended;
      throw new RangeError("git gave less of an object than it said");
    }
    return bytes;
  }
}
