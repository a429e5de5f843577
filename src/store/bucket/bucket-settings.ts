/** Address of a bucket and credentials for it. */
export interface BucketSettings {
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
  readonly keys: BucketKeys | undefined;
}

interface BucketKeys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** Milliseconds. */
export interface BucketLimits {
  readonly connect: number;
  /** Until the first byte of an answer. */
  readonly firstByte: number;
  /** Between two pieces of a body. */
  readonly idle: number;
}
