import { Readable } from "node:stream";
import type { _Object, ListObjectsV2Output, S3 } from "@aws-sdk/client-s3";
import { type Failure, isFailure } from "../../errors/index.ts";
import { BucketConnection, statusOf } from "./bucket-connection.ts";
import type { BucketLimits, BucketSettings } from "./bucket-settings.ts";

/** Bytes of an object that is read whole. */
const largestText = 4 * 1024 * 1024;
/** Bytes of each part but the last of an object that is written in parts. */
const partSize = 16 * 1024 * 1024;

interface ObjectHead {
  readonly etag: string;
  readonly size: number;
  /** The mark of the conditional write that made it; empty for another. */
  readonly mark: string;
}

interface BucketObject extends ObjectHead {
  /** Read it or destroy it. */
  readonly body: Readable;
}

interface ListedObject {
  /** Without the settings' prefix. */
  readonly key: string;
  readonly size: number;
  readonly etag: string;
  readonly lastModified: Date;
}

/** Condition of a write, which the service checks and applies in one step. */
export type Condition =
  | { readonly kind: "absent" }
  | { readonly kind: "unchanged"; readonly etag: string };

/**
 * Outcome of a write. `lost`: another write came first. `unknown`: the answer
 * was lost, or the service failed; only the object itself shows which write
 * won.
 */
type PutOutcome =
  | { readonly kind: "written"; readonly etag: string }
  | { readonly kind: "lost" }
  | {
      readonly kind: "unknown";
      readonly failure: Failure<"bucket-unreachable">;
    };

/** The objects of one bucket. Every method throws bucket-unreachable and bucket-refuses. */
export class Bucket {
  readonly name: string;
  readonly connection: BucketConnection;
  readonly #prefix: string;

  constructor(settings: BucketSettings, limits: BucketLimits) {
    this.name = settings.bucket;
    this.#prefix = settings.prefix;
    this.connection = new BucketConnection(settings, limits);
  }

  /** Undefined when there is no such object. */
  async get(key: string, isProbe = false): Promise<BucketObject | undefined> {
    const action = "read an object";
    const found = await this.connection.send(
      action,
      // Without that code, a bucket that is gone or a proxy in between answered.
      (client) =>
        client
          .getObject(this.#at(key))
          .catch((error: unknown) =>
            absentIf((error as Error).name === "NoSuchKey", error),
          ),
      { isOnce: isProbe, isProbe },
    );
    if (found === undefined) return undefined;
    const body = found.Body as Readable;
    const size = found.ContentLength;
    if (size !== undefined) return { ...this.#headOf(found, size), body };
    body.destroy();
    throw this.connection.refusal(action, 200, "no Content-Length");
  }

  /** Reads a small object whole, of at most `largest` bytes; 4 MiB. */
  async readText(
    { body }: Pick<BucketObject, "body">,
    largest = largestText,
  ): Promise<string> {
    const pieces: Uint8Array[] = [];
    let size = 0;
    for await (const piece of this.connection.readPieces(body)) {
      size += piece.length;
      if (size > largest)
        throw this.connection.refusal("answer briefly", 200, "too large");
      pieces.push(piece);
    }
    return Buffer.concat(pieces).toString();
  }

  /** Undefined when there is no such object. */
  async head(key: string): Promise<ObjectHead | undefined> {
    const found = await this.connection.send("read an object", (client) =>
      client
        .headObject(this.#at(key))
        .catch((error: unknown) => absentIf(statusOf(error) === 404, error)),
    );
    return found && this.#headOf(found, found.ContentLength ?? 0);
  }

  /** Replaces the object. */
  async put(key: string, body: string | Uint8Array): Promise<string> {
    const input = { ...this.#at(key), Body: body };
    const { ETag = "" } = await this.connection.send(
      "store an object",
      (client) => client.putObject(input),
    );
    return ETag;
  }

  /** Replaces the object by `size` bytes; the service refuses bytes that are not those of `sha256`, in hexadecimal. */
  async putPieces(
    key: string,
    pieces: () => AsyncIterable<Uint8Array>,
    { size, sha256 }: { readonly size: number; readonly sha256: string },
  ): Promise<void> {
    const { PutObjectCommand } = await import("@aws-sdk/client-s3");
    await this.connection.send("store an object", (client) => {
      const Body = Readable.from(pieces());
      const input = { ...this.#at(key), Body, ContentLength: size };
      const command = new PutObjectCommand(input);
      command.middlewareStack.add(
        (next) => (asked) => {
          const { headers } = asked.request as { headers: object };
          Object.assign(headers, { "x-amz-content-sha256": sha256 });
          return next(asked);
        },
        { step: "build" },
      );
      return client.send(command);
    });
  }

  /** Replaces the object by bytes that are sent in parts, of which nothing is seen until all are there. */
  async putInParts(
    key: string,
    pieces: () => AsyncIterable<Uint8Array>,
  ): Promise<void> {
    const { Upload } = await import("@aws-sdk/lib-storage");
    await this.connection.send("store an object", (client) => {
      const params = { ...this.#at(key), Body: Readable.from(pieces()) };
      return new Upload({ client, params, partSize, queueSize: 1 }).done();
    });
  }

  /**
   * Writes the object whole if `condition` holds; `mark` distinguishes this
   * write from another one of the same bytes.
   */
  async putIf(
    key: string,
    body: string | Uint8Array,
    condition: Condition,
    mark = "",
  ): Promise<PutOutcome> {
    const input = {
      ...this.#at(key),
      ...(condition.kind === "absent"
        ? { IfNoneMatch: "*" }
        : { IfMatch: condition.etag }),
      Body: body,
      Metadata: { mark },
    };
    const write = (client: S3) =>
      client.putObject(input).catch((error: unknown) => {
        const status = statusOf(error);
        absentIf(status === 412 || status === 409, error);
      });
    try {
      const action = "store an object";
      const put = await this.connection.send(action, write, { isOnce: true });
      return put === undefined
        ? { kind: "lost" }
        : { kind: "written", etag: put.ETag ?? "" };
    } catch (error) {
      if (!isFailure(error, "bucket-unreachable")) throw error;
      return { kind: "unknown", failure: error };
    }
  }

  /** There is no such object on return. */
  async delete(key: string): Promise<void> {
    await this.connection.send("delete an object", (client) =>
      client
        .deleteObject(this.#at(key))
        .catch((error: unknown) => absentIf(statusOf(error) === 404, error)),
    );
  }

  /** Lists objects whose keys start with `prefix`, in the order of their keys. */
  async *list(prefix: string): AsyncGenerator<ListedObject> {
    for await (const { Contents = [] } of this.#pages(prefix, undefined))
      for (const object of Contents)
        yield this.#listed(object, this.#prefix.length);
  }

  /** The next part of each key below `prefix`: of objects there, and of folders there. */
  async listLevel(
    prefix: string,
  ): Promise<{ readonly keys: string[]; readonly folders: string[] }> {
    const keys: string[] = [];
    const folders: string[] = [];
    const skipped = this.#prefix.length + prefix.length;
    for await (const page of this.#pages(prefix, "/")) {
      for (const one of page.Contents ?? [])
        keys.push(this.#listed(one, skipped).key);
      for (const { Prefix = "" } of page.CommonPrefixes ?? [])
        folders.push(Prefix.slice(skipped, -1));
    }
    return { keys, folders };
  }

  async close(): Promise<void> {
    await this.connection.close();
  }

  async *#pages(
    prefix: string,
    Delimiter: string | undefined,
  ): AsyncGenerator<ListObjectsV2Output> {
    const action = "list its objects";
    const Prefix = `${this.#prefix}${prefix}`;
    let ContinuationToken: string | undefined;
    do {
      const input = { Bucket: this.name, Prefix, Delimiter, ContinuationToken };
      const page = await this.connection.send(action, (client) =>
        client.listObjectsV2(input),
      );
      // The client takes any document for an empty list.
      if (page.IsTruncated === undefined)
        throw this.connection.refusal(action, 200, "no list");
      yield page;
      const next = page.NextContinuationToken;
      if (next !== undefined && next === ContinuationToken)
        throw this.connection.refusal(action, 200, "a list without an end");
      ContinuationToken = next;
    } while (ContinuationToken !== undefined);
  }

  #at(key: string): { readonly Bucket: string; readonly Key: string } {
    return { Bucket: this.name, Key: `${this.#prefix}${key}` };
  }

  #listed(
    { Key, Size, ETag = "", LastModified }: _Object,
    skipped: number,
  ): ListedObject {
    if (Key === undefined || Size === undefined || LastModified === undefined)
      throw this.connection.refusal("list its objects", 200, "no list");
    const key = Key.slice(skipped);
    return { key, size: Size, etag: ETag, lastModified: LastModified };
  }

  #headOf(
    found: {
      readonly ETag?: string | undefined;
      readonly Metadata?: Readonly<Record<string, string>> | undefined;
    },
    size: number,
  ): ObjectHead {
    return {
      etag: found.ETag ?? "",
      size,
      mark: found.Metadata?.mark ?? "",
    };
  }
}

/** Returns undefined for an error that means absence; throws it otherwise. */
function absentIf(isAbsent: boolean, error: unknown): undefined {
  if (!isAbsent) throw error;
}
