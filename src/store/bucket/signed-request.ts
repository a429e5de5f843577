import { createHash, createHmac, hash, type Hash } from "node:crypto";
import type { SignatureV4 } from "@smithy/signature-v4";
import type { AwsCredentialIdentity, Checksum, Provider } from "@smithy/types";
import type { BucketSettings } from "./bucket-settings.ts";

type Method = "GET" | "HEAD" | "PUT" | "POST" | "DELETE";

export interface BucketRequest {
  readonly method: Method;
  /** Without the settings' prefix; empty for the bucket itself. */
  readonly key: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What is signed of a body; the service refuses another one. */
interface SignedBody {
  readonly size: number;
  /** In hexadecimal. */
  readonly sha256: string;
}

/** Of a request without a body. */
const emptySha256 = hash("sha256", "");

interface SignedRequest {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
}

/** Signs requests as AWS Signature Version 4 for S3 says: the path is encoded once, and the body's digest is part of it. */
export class RequestSigner {
  readonly #settings: BucketSettings;
  readonly #credentials: Provider<AwsCredentialIdentity>;
  #signer: Promise<SignatureV4> | undefined;

  constructor(
    settings: BucketSettings,
    credentials: Provider<AwsCredentialIdentity>,
  ) {
    this.#settings = settings;
    this.#credentials = credentials;
  }

  /** `at` is the service's time, which our clock may not know. */
  async sign(
    request: BucketRequest,
    body: SignedBody | undefined,
    at: Date,
  ): Promise<SignedRequest> {
    const { method, query = {} } = request;
    const url = this.#locate(request.key);
    const signer = await (this.#signer ??= this.#load());
    const signed = await signer.sign(
      {
        method,
        protocol: url.protocol,
        hostname: url.hostname,
        path: url.pathname,
        query,
        headers: {
          ...request.headers,
          ...(body && { "content-length": String(body.size) }),
          host: url.host,
          "x-amz-content-sha256": body?.sha256 ?? emptySha256,
        },
      },
      { signingDate: at },
    );
    for (const [name, value] of Object.entries(query))
      url.searchParams.append(name, value);
    // Signatures encode a space as %20; URLSearchParams writes a plus.
    url.search = url.search.replaceAll("+", "%20");
    return { url, headers: signed.headers };
  }

  /** Only with the first request: a daemon without a bucket does without its code. */
  async #load(): Promise<SignatureV4> {
    const { SignatureV4 } = await import("@smithy/signature-v4");
    const { region } = this.#settings;
    const service = { service: "s3", region, uriEscapePath: false };
    const credentials = this.#credentials;
    return new SignatureV4({ ...service, credentials, sha256: Sha256 });
  }

  #locate(key: string): URL {
    const { endpoint, bucket, prefix, pathStyle } = this.#settings;
    const url = new URL(endpoint);
    if (!pathStyle) url.hostname = `${bucket}.${endpoint.hostname}`;
    const base = url.pathname.replace(/\/$/, "");
    const path = key === "" ? "" : `${prefix}${key}`;
    const parts = [...(pathStyle ? [bucket] : []), ...path.split("/")];
    url.pathname = `${base}/${parts.map(encodePart).join("/")}`;
    return url;
  }
}

function encodePart(part: string): string {
  return encodeURIComponent(part).replace(
    /[!'()*]/g,
    (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

type Hashing = Hash | ReturnType<typeof createHmac>;

/** Node's SHA-256 in the form that the signer wants. */
class Sha256 implements Checksum {
  readonly #secret: Uint8Array | undefined;
  #hash: Hashing;

  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#secret = secret === undefined ? undefined : bytesOf(secret);
    this.#hash = this.#make();
  }

  update(chunk: string | ArrayBuffer | ArrayBufferView): void {
    this.#hash.update(bytesOf(chunk));
  }

  digest(): Promise<Uint8Array> {
    return Promise.resolve(this.#hash.digest());
  }

  reset(): void {
    this.#hash = this.#make();
  }

  #make(): Hashing {
    return this.#secret === undefined
      ? createHash("sha256")
      : createHmac("sha256", this.#secret);
  }
}

function bytesOf(chunk: string | ArrayBuffer | ArrayBufferView): Uint8Array {
  if (typeof chunk === "string") return Buffer.from(chunk);
  if (chunk instanceof ArrayBuffer) return new Uint8Array(chunk);
  return new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength);
}
