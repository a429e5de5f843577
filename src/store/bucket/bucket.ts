import type { FileHandle } from "node:fs/promises";
import { Readable } from "node:stream";
import type { S3, S3ServiceException } from "@aws-sdk/client-s3";
import type { Sha256 } from "../../address/hash.ts";
import { failure, isFailure, ProvenderError } from "../../errors/index.ts";
import { blobObject } from "../layout.ts";
import { type BucketLimits, sendObjectRequests } from "./object-requests.ts";

interface BucketSettings {
  readonly bucket: string;
  /** The service's own address, without the bucket. */
  readonly endpoint: URL;
  readonly region: string;
  /** Prefix of every key; empty, or with a slash at its end. */
  readonly prefix: string;
  /** True: `ENDPOINT/BUCKET/KEY`; false: `BUCKET.ENDPOINT/KEY`. */
  readonly pathStyle: boolean;
  /** PEM certificates to trust besides the machine's. */
  readonly ca: string | undefined;
  /** `undefined`: from the environment, the shared files, a web identity or the instance. */
  readonly keys:
    | { readonly accessKeyId: string; readonly secretAccessKey: string }
    | undefined;
}

/** An archive on its way from the bucket, not hashed yet; read it or destroy it. */
interface BucketArchive {
  readonly size: number;
  readonly body: AsyncIterable<Uint8Array>;
}

/** Times that a request is made which may be repeated. */
const tries = 3;
/** Bytes above which an archive is sent in parts, of each part but the last, and of a piece that is read at once. */
const largestWhole = 64 * 1024 * 1024;
const partSize = 16 * 1024 * 1024;
const pieceSize = 256 * 1024;
/** Milliseconds between two looks at a bucket that answers, and at one that does not. */
const pause = 10_000;
const shortPause = 1_000;

const nothing = (): void => undefined;

/**
 * Archives in a bucket, named by their SHA-256, to be verified like archives of an origin. While the bucket does not
 * answer no request waits for it. Every method throws bucket-unreachable and bucket-refuses.
 */
export class Bucket {
  readonly url: URL;
  readonly #settings: BucketSettings;
  readonly #requests: ReturnType<typeof sendObjectRequests>;
  readonly #onProblem: (problem: string | undefined) => void;
  #client: Promise<S3> | undefined;
  /** Why it does not answer. */
  #outage: ProvenderError | undefined;
  /** Why it takes no writes. */
  #refusal: string | undefined;
  #told: string | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  /** `onProblem` hears why it is unusable or read-only; undefined when it works again. */
  constructor(
    settings: BucketSettings,
    limits: BucketLimits,
    onProblem: (problem: string | undefined) => void = nothing,
  ) {
    this.url = settings.endpoint;
    this.#settings = settings;
    this.#onProblem = onProblem;
    this.#requests = sendObjectRequests(settings.ca, limits, (status) => {
      this.#refusal =
        status < 400
          ? undefined
          : `The bucket ${settings.bucket} takes no writes (${status}).`;
      this.#tell();
    });
  }

  /** Why it is unusable or read-only. */
  get problem(): string | undefined {
    return this.#outage?.message ?? this.#refusal;
  }

  /** Asks for an object that need not be there, to see whether the bucket answers. */
  async probe(): Promise<void> {
    await this.#ask("read an object", async (client) => {
      const found = await client.getObject(this.#at("probe")).catch(noneIfNone);
      (found?.Body as Readable | undefined)?.destroy();
    });
  }

  /** Finds out whether it answers, now and from now on. Never rejects. */
  async look(): Promise<void> {
    try {
      await this.probe();
      this.#outage = undefined;
    } catch (error) {
      this.#outage = error as ProvenderError;
    }
    this.#tellAndLook();
  }

  /** Undefined when there is none, or one of more than `largest` bytes. */
  async open(
    sha256: Sha256,
    largest = Infinity,
  ): Promise<BucketArchive | undefined> {
    const action = "read an object";
    const found = await this.#send(action, (client) =>
      client.getObject(this.#at(blobObject(sha256))).catch(noneIfNone),
    );
    if (found === undefined) return undefined;
    const body = found.Body as Readable;
    const size = found.ContentLength;
    if (size !== undefined && size <= largest)
      return { size, body: this.#read(body) };
    body.destroy();
    if (size !== undefined) return undefined;
    const { bucket } = this.#settings;
    throw failure("bucket-refuses", bucket, action, 200, "no Content-Length");
  }

  /** Returns the size in bytes; undefined when there is none. */
  async size(sha256: Sha256): Promise<number | undefined> {
    const found = await this.#send("read an object", (client) =>
      client.headObject(this.#at(blobObject(sha256))).catch(noneIf404),
    );
    return found && (found.ContentLength ?? 0);
  }

  /** Done also when it is there. The service refuses bytes that are not those of the digest; of parts nothing is seen until all are there. */
  async put(sha256: Sha256, handle: FileHandle, size: number): Promise<void> {
    const { PutObjectCommand } = await import("@aws-sdk/client-s3");
    const { Upload } = await import("@aws-sdk/lib-storage");
    await this.#send("store an object", async (client): Promise<void> => {
      const Body = Readable.from(readPieces(handle, size));
      const params = { ...this.#at(blobObject(sha256)), Body };
      if (size > largestWhole) {
        await new Upload({ client, params, partSize, queueSize: 1 }).done();
        return;
      }
      const command = new PutObjectCommand({ ...params, ContentLength: size });
      command.middlewareStack.add(
        (next) => (asked) => {
          const { headers } = asked.request as { headers: object };
          Object.assign(headers, { "x-amz-content-sha256": sha256 });
          return next(asked);
        },
        { step: "build" },
      );
      await client.send(command);
    });
  }

  /** Succeeds also when there is none. */
  async delete(sha256: Sha256): Promise<void> {
    await this.#send("delete an object", (client) =>
      client.deleteObject(this.#at(blobObject(sha256))).catch(noneIf404),
    );
  }

  /** Ends every request at once. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#requests.close();
  }

  async #send<T>(action: string, call: (client: S3) => Promise<T>): Promise<T> {
    if (this.#outage !== undefined) throw this.#outage;
    try {
      return await this.#ask(action, call);
    } catch (error) {
      if (isFailure(error, "bucket-unreachable")) {
        this.#outage = error;
        this.#tellAndLook();
      }
      throw error;
    }
  }

  async #ask<T>(action: string, call: (client: S3) => Promise<T>): Promise<T> {
    try {
      this.#client ??= this.#makeClient();
      return await call(await this.#client);
    } catch (error) {
      throw describe(this.#settings.bucket, action, error);
    }
  }

  #tellAndLook(): void {
    this.#tell();
    if (this.#isClosed) return;
    clearTimeout(this.#timer);
    const wait = this.#outage === undefined ? pause : shortPause;
    this.#timer = setTimeout(() => void this.look(), wait).unref();
  }

  #tell(): void {
    const { problem } = this;
    if (problem === this.#told || this.#isClosed) return;
    this.#told = problem;
    this.#onProblem(problem);
  }

  async *#read(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    try {
      yield* body;
    } catch (error) {
      throw describe(this.#settings.bucket, "read an object", error);
    }
  }

  /** Loads the SDK with the first request: a daemon without a bucket does without its code. */
  async #makeClient(): Promise<S3> {
    const { S3 } = await import("@aws-sdk/client-s3").catch(
      (error: unknown) => {
        // The next request loads it again, such as when descriptors are left.
        this.#client = undefined;
        throw error;
      },
    );
    const { endpoint, region, keys, pathStyle } = this.#settings;
    return new S3({
      endpoint: endpoint.href,
      region,
      ...(keys && { credentials: keys }),
      forcePathStyle: pathStyle,
      maxAttempts: tries,
      requestHandler: this.#requests,
      // Services other than Amazon's do not take the newer checksums.
      requestChecksumCalculation: "WHEN_REQUIRED",
      responseChecksumValidation: "WHEN_REQUIRED",
      expectContinueHeader: false,
      // The client writes to the console otherwise; every failure is thrown as well.
      logger: { debug: nothing, info: nothing, warn: nothing, error: nothing },
    });
  }

  #at(key: string) {
    const { bucket, prefix } = this.#settings;
    return { Bucket: bucket, Key: `${prefix}${key}` };
  }
}

/** For an object that is not there; without that code, a bucket that is gone or a proxy in between answered. */
function noneIfNone(error: unknown): undefined {
  if ((error as Error).name !== "NoSuchKey") throw error;
}

function noneIf404(error: unknown): undefined {
  if (statusOf(error) !== 404) throw error;
}

/** Undefined where no answer came. */
function statusOf(error: unknown): number | undefined {
  const { $metadata, $response } = error as Partial<S3ServiceException>;
  return $response?.statusCode ?? $metadata?.httpStatusCode;
}

function describe(
  bucket: string,
  action: string,
  thrown: unknown,
): ProvenderError {
  if (thrown instanceof ProvenderError) return thrown;
  const { name, message } = thrown as Error;
  const status = statusOf(thrown);
  const cause = { cause: thrown };
  if (status === undefined)
    return failure("bucket-unreachable", bucket, message, cause);
  const isCoded = status >= 400 && !name.startsWith("Unknown");
  const reason = isCoded ? name : status >= 400 ? "" : message;
  const mayPass = status === 408 || status === 429 || status >= 500;
  if (!mayPass)
    return failure("bucket-refuses", bucket, action, status, reason);
  const said = `${status} ${reason}`.trim();
  return failure("bucket-unreachable", bucket, said, cause);
}

async function* readPieces(
  handle: FileHandle,
  size: number,
): AsyncGenerator<Uint8Array> {
  for (let position = 0; position < size;) {
    const length = Math.min(pieceSize, size - position);
    const buffer = Buffer.allocUnsafeSlow(length);
    const { bytesRead } = await handle.read(buffer, 0, length, position);
    if (bytesRead === 0) throw new Error("the archive is cut short");
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}
