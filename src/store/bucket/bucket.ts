import { Readable } from "node:stream";
import { BucketConnection, statusOf } from "./bucket-connection.ts";
import type { BucketLimits, BucketSettings } from "./bucket-settings.ts";

/** Bytes of each part but the last of an object that is written in parts. */
const partSize = 16 * 1024 * 1024;

interface BucketObject {
  readonly size: number;
  /** Read it or destroy it. */
  readonly body: Readable;
}

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
  async get(key: string): Promise<BucketObject | undefined> {
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
    );
    if (found === undefined) return undefined;
    const body = found.Body as Readable;
    const size = found.ContentLength;
    if (size !== undefined) return { size, body };
    body.destroy();
    throw this.connection.refusal(action, 200, "no Content-Length");
  }

  /** Asks for an object that need not be there, to see whether the bucket answers. */
  async probe(): Promise<void> {
    await this.connection.send(
      "read an object",
      (client) =>
        client
          .getObject(this.#at("probe"))
          .then(({ Body }) => (Body as Readable).destroy())
          .catch((error: unknown) =>
            absentIf((error as Error).name === "NoSuchKey", error),
          ),
      { isProbe: true },
    );
  }

  /** Bytes of an object; undefined when there is none. */
  async size(key: string): Promise<number | undefined> {
    const found = await this.connection.send("read an object", (client) =>
      client
        .headObject(this.#at(key))
        .catch((error: unknown) => absentIf(statusOf(error) === 404, error)),
    );
    return found && (found.ContentLength ?? 0);
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

  /** There is no such object on return. */
  async delete(key: string): Promise<void> {
    await this.connection.send("delete an object", (client) =>
      client
        .deleteObject(this.#at(key))
        .catch((error: unknown) => absentIf(statusOf(error) === 404, error)),
    );
  }

  async close(): Promise<void> {
    await this.connection.close();
  }

  #at(key: string): { readonly Bucket: string; readonly Key: string } {
    return { Bucket: this.name, Key: `${this.#prefix}${key}` };
  }
}

/** Returns undefined for an error that means absence; throws it otherwise. */
function absentIf(isAbsent: boolean, error: unknown): undefined {
  if (!isAbsent) throw error;
}
