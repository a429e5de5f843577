import { findElement } from "./listing-document.ts";
import {
  bodyOf,
  headerOf,
  type BucketBody,
  type BucketConnection,
} from "./bucket-connection.ts";

/** A write in parts, of which nothing is seen until it is completed. */
export class MultipartUpload {
  readonly #connection: BucketConnection;
  readonly #key: string;
  readonly #id: string;
  readonly #etags: string[] = [];

  private constructor(connection: BucketConnection, key: string, id: string) {
    this.#connection = connection;
    this.#key = key;
    this.#id = id;
  }

  static async start(
    connection: BucketConnection,
    key: string,
  ): Promise<MultipartUpload> {
    const answer = await connection.send(
      { method: "POST", key, query: { uploads: "" } },
      { isRepeatable: true },
    );
    await connection.expect(answer, "start an upload", 200);
    const id = await findElement(await connection.readText(answer), "UploadId");
    if (id === undefined)
      throw connection.refusal("start an upload", 200, "no UploadId");
    return new MultipartUpload(connection, key, id);
  }

  /** Adds the next part; all but the last have 5 MiB or more. */
  async add(body: BucketBody): Promise<void> {
    const query = {
      partNumber: String(this.#etags.length + 1),
      uploadId: this.#id,
    };
    const answer = await this.#connection.send(
      { method: "PUT", key: this.#key, query },
      { body, isRepeatable: true },
    );
    await this.#connection.expect(answer, "store a part", 200);
    await answer.body.dump();
    this.#etags.push(headerOf(answer, "etag"));
  }

  async complete(): Promise<void> {
    const body = bodyOf(formatParts(this.#etags));
    const answer = await this.#connection.send(
      { method: "POST", key: this.#key, query: { uploadId: this.#id } },
      { body, isRepeatable: false },
    );
    await this.#connection.expect(answer, "complete an upload", 200);
    // A completion may fail after its status was sent.
    const text = await this.#connection.readText(answer);
    const failure = await findElement(text, "Code");
    if (failure !== undefined)
      throw this.#connection.refusal("complete an upload", 200, failure);
  }

  /** Gives the parts back; what was completed stays. */
  async abort(): Promise<void> {
    const answer = await this.#connection.send(
      { method: "DELETE", key: this.#key, query: { uploadId: this.#id } },
      { isRepeatable: true },
    );
    await answer.body.dump();
  }
}

function formatParts(etags: readonly string[]): string {
  const parts = etags.map(
    (etag, index) =>
      `<Part><PartNumber>${index + 1}</PartNumber><ETag>${etag}</ETag></Part>`,
  );
  return `<CompleteMultipartUpload>${parts.join("")}</CompleteMultipartUpload>`;
}
