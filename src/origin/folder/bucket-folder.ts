import type { Hostname } from "../../address/hostname.ts";
import {
  BucketUnreachable,
  isBucketFailure,
  OriginBucketUnreachable,
} from "../../errors/index.ts";
import {
  OriginFolder,
  type FolderEntry,
  type FolderFile,
} from "./origin-folder.ts";

/** The objects of a bucket, as `Bucket` has them. */
interface FolderObjects {
  readonly name: string;
  readonly url: URL;
  listLevel(
    prefix: string,
    most: number,
  ): Promise<{
    readonly keys: readonly string[];
    readonly folders: readonly string[];
  }>;
  head(key: string): Promise<{ readonly size: number } | undefined>;
  get(key: string): Promise<
    | {
        readonly size: number;
        readonly body: AsyncIterable<unknown> & { destroy(): unknown };
      }
    | undefined
  >;
}

/** Names in one folder: whoever may publish may put any number of objects there. */
const mostNames = 100_000;

/** The objects of a bucket whose keys start with a prefix; a folder is there when anything is in it. */
export class BucketFolder extends OriginFolder {
  readonly #objects: FolderObjects;
  readonly #prefix: string;

  /** `prefix` ends in a slash. */
  constructor(objects: FolderObjects, prefix: string, hostname?: Hostname) {
    super(new URL(prefix, objects.url), hostname);
    this.#objects = objects;
    this.#prefix = prefix;
  }

  show(parts: readonly string[]): string {
    return `${this.#objects.url.href}${this.keyOf(parts)}`;
  }

  keyOf(parts: readonly string[]): string {
    return `${this.#prefix}${parts.join("/")}`;
  }

  protected async listNamed(
    parts: readonly string[],
  ): Promise<readonly FolderEntry[] | undefined> {
    const prefix = this.keyOf([...parts, ""]);
    const level = () => this.#objects.listLevel(prefix, mostNames);
    const { keys, folders } = await this.#try(parts, level);
    const count = keys.length + folders.length;
    if (count > mostNames)
      throw this.unusable(parts, `it has more than ${mostNames} names`);
    if (parts.length > 0 && count === 0) return undefined;
    return [
      ...folders.map((name) => ({ name, kind: "other" as const })),
      ...keys.map((name) => ({ name, kind: "file" as const })),
    ];
  }

  protected async measureNamed(
    parts: readonly string[],
  ): Promise<number | undefined> {
    const head = () => this.#objects.head(this.keyOf(parts));
    return (await this.#try(parts, head))?.size;
  }

  protected async openNamed(
    parts: readonly string[],
  ): Promise<FolderFile | undefined> {
    const get = () => this.#objects.get(this.keyOf(parts));
    const found = await this.#try(parts, get);
    if (found === undefined) return undefined;
    const { size, body } = found;
    return {
      size,
      pieces: () => this.#read(body as AsyncIterable<Uint8Array>, parts),
      [Symbol.asyncDispose]: () => Promise.resolve(void body.destroy()),
    };
  }

  async *#read(
    body: AsyncIterable<Uint8Array>,
    parts: readonly string[],
  ): AsyncGenerator<Uint8Array> {
    try {
      yield* body;
    } catch (error) {
      const { message } = error as Error;
      const { name } = this.#objects;
      throw this.#named(parts, new BucketUnreachable(name, message));
    }
  }

  async #try<T>(parts: readonly string[], act: () => Promise<T>): Promise<T> {
    try {
      return await act();
    } catch (error) {
      if (!isBucketFailure(error)) throw error;
      throw this.#named(parts, error);
    }
  }

  #named(parts: readonly string[], cause: Error): OriginBucketUnreachable {
    const { message } = cause;
    return new OriginBucketUnreachable(this.nameOf(parts), message, { cause });
  }
}
