import type { S3, S3ServiceException } from "@aws-sdk/client-s3";
import { failure, type Failure, ProvenderError } from "../../errors/index.ts";
import type { BucketLimits, BucketSettings } from "./bucket-settings.ts";
import { ObjectRequests, type SignedRequest } from "./object-requests.ts";

/** Times that a request is made which may be repeated. */
const tries = 3;

const nothing = (): void => undefined;
/** The client writes to the console otherwise; every failure is thrown as well. */
const silence = {
  debug: nothing,
  info: nothing,
  warn: nothing,
  error: nothing,
};

interface Sending {
  /** Goes out also while the bucket is suspended, to find out whether it is back. */
  readonly isProbe?: boolean;
}

interface Clients {
  readonly repeating: S3;
  readonly once: S3;
}

/** The S3 clients of one bucket, with limits in time, and what their answers show of it. */
export class BucketConnection {
  readonly #settings: BucketSettings;
  readonly #requests: ObjectRequests;
  #clients: Promise<Clients> | undefined;
  #suspension: ProvenderError | undefined;
  #refusal: string | undefined;

  constructor(settings: BucketSettings, limits: BucketLimits) {
    this.#settings = settings;
    this.#requests = new ObjectRequests(settings, limits, (method, status) => {
      if (method === "PUT") this.#noteWrite(status);
    });
  }

  /** Reason for being unusable or read-only; undefined while there is none. */
  get problem(): string | undefined {
    return this.#suspension?.message ?? this.#refusal;
  }

  /** Every request but a probe gets this error at once, until this is called without a reason. */
  suspend(reason: ProvenderError | undefined): void {
    this.#suspension = reason;
  }

  async close(): Promise<void> {
    await this.#requests.close();
  }

  async send<T>(
    action: string,
    call: (client: S3) => Promise<T>,
    { isProbe = false }: Sending = {},
  ): Promise<T> {
    if (!isProbe) this.#expectUsable();
    try {
      this.#clients ??= this.#makeClients();
      const { repeating, once } = await this.#clients;
      return await call(isProbe ? once : repeating);
    } catch (error) {
      throw this.#describe(action, error);
    }
  }

  #expectUsable(): void {
    if (this.#suspension !== undefined) throw this.#suspension;
  }

  refusal(
    action: string,
    status: number,
    reason: string,
  ): Failure<"bucket-refuses"> {
    const { bucket } = this.#settings;
    return failure("bucket-refuses", bucket, action, status, reason);
  }

  async *readPieces(
    body: AsyncIterable<Uint8Array>,
  ): AsyncGenerator<Uint8Array> {
    try {
      yield* body;
    } catch (cause) {
      const { message } = cause as Error;
      throw failure("bucket-unreachable", this.#settings.bucket, message, {
        cause,
      });
    }
  }

  /** Loads the SDK with the first request: a daemon without a bucket does without its code. */
  async #makeClients(): Promise<Clients> {
    const { S3 } = await import("@aws-sdk/client-s3").catch(
      (error: unknown) => {
        // The next request loads it again, such as when descriptors are left.
        this.#clients = undefined;
        throw error;
      },
    );
    const { endpoint, region, keys, pathStyle } = this.#settings;
    const requests = this.#requests;
    // A request is not repeated once the bucket is suspended.
    const guarded = {
      metadata: requests.metadata,
      handle: (asked: SignedRequest) => {
        this.#expectUsable();
        return requests.handle(asked);
      },
    };
    const make = (maxAttempts: number, requestHandler: typeof guarded) =>
      new S3({
        endpoint: endpoint.href,
        region,
        ...(keys && { credentials: keys }),
        forcePathStyle: pathStyle,
        maxAttempts,
        requestHandler,
        // Services other than Amazon's do not take the newer checksums.
        requestChecksumCalculation: "WHEN_REQUIRED",
        responseChecksumValidation: "WHEN_REQUIRED",
        expectContinueHeader: false,
        logger: silence,
      });
    return { repeating: make(tries, guarded), once: make(1, requests) };
  }

  /** Remembers whether the bucket takes writes. */
  #noteWrite(status: number): void {
    if (status < 400) this.#refusal = undefined;
    else
      this.#refusal = `The bucket ${this.#settings.bucket} takes no writes (${status}).`;
  }

  #describe(action: string, thrown: unknown): ProvenderError {
    if (thrown instanceof ProvenderError) return thrown;
    const { name, message } = thrown as Error;
    const status = statusOf(thrown);
    const cause = { cause: thrown };
    const { bucket } = this.#settings;
    if (status === undefined)
      return failure("bucket-unreachable", bucket, message, cause);
    const isCoded = status >= 400 && !name.startsWith("Unknown");
    const reason = isCoded ? name : status >= 400 ? "" : message;
    if (!isTransient(status)) return this.refusal(action, status, reason);
    return failure(
      "bucket-unreachable",
      bucket,
      `${status} ${reason}`.trim(),
      cause,
    );
  }
}

/**
 * Returns the status in an error of the SDK; undefined where no answer came.
 */
export function statusOf(error: unknown): number | undefined {
  const { $metadata, $response } = error as Partial<S3ServiceException>;
  return $response?.statusCode ?? $metadata?.httpStatusCode;
}

/** True for a status after which another attempt may succeed. */
function isTransient(status: number): boolean {
  return status === 408 || status === 429 || status >= 500;
}
