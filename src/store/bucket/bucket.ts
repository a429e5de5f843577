import { BucketUnreachable } from "../../errors/index.ts";
import type { BucketLimits, BucketSettings } from "./bucket-settings.ts";
import {
  BucketConnection,
  headerOf,
  type BucketAnswer,
  type BucketBody,
} from "./bucket-connection.ts";
import {
  parseListing,
  type ListedObject,
  type Listing,
} from "./listing-document.ts";
import type { BucketRequest } from "./signed-request.ts";

interface BucketObject {
  readonly etag: string;
  readonly size: number;
  readonly lastModified: Date;
  /** Of the conditional write that it came by; empty for another. */
  readonly mark: string;
  /** Read it or destroy it; undefined after HEAD. */
  readonly body: BucketAnswer["body"];
}

/** What has to hold for a write to happen; the service decides it in one step. */
export type Condition =
  | { readonly kind: "absent" }
  | { readonly kind: "unchanged"; readonly etag: string };

/**
 * `lost`: another's write came first. `unknown`: the answer was lost, or the
 * service failed while it decided; only the object itself tells who won.
 */
type PutOutcome =
  | { readonly kind: "written"; readonly etag: string }
  | { readonly kind: "lost" }
  | { readonly kind: "unknown"; readonly failure: BucketUnreachable };

const markHeader = "x-amz-meta-mark";

/** The objects of one bucket. Every method throws BucketUnreachable and BucketRefuses. */
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
    return this.#find({ method: "GET", key }, isProbe);
  }

  /** A small object whole, of at most `largest` bytes; 4 MiB. */
  async readText({ body }: BucketObject, largest?: number): Promise<string> {
    return this.connection.readText({ body }, largest);
  }

  /** Undefined when there is no such object. */
  async head(key: string): Promise<Omit<BucketObject, "body"> | undefined> {
    const found = await this.#find({ method: "HEAD", key });
    await found?.body.dump();
    return found;
  }

  /** Writes the object whole; what was there before goes. */
  async put(key: string, body: BucketBody): Promise<string> {
    const sending = { body, isRepeatable: true };
    const answer = await this.connection.send({ method: "PUT", key }, sending);
    return this.#readEtag(answer);
  }

  /** Writes the object whole if `condition` holds; `mark` tells this write from another's of the same bytes. */
  async putIf(
    key: string,
    body: BucketBody,
    condition: Condition,
    mark = "",
  ): Promise<PutOutcome> {
    const headers = { ...conditionHeaders(condition), [markHeader]: mark };
    try {
      const asked = { method: "PUT", key, headers } as const;
      const sending = { body, isRepeatable: false };
      const answer = await this.connection.send(asked, sending);
      if (answer.statusCode !== 412 && answer.statusCode !== 409)
        return { kind: "written", etag: await this.#readEtag(answer) };
      await answer.body.dump();
      return { kind: "lost" };
    } catch (error) {
      if (!(error instanceof BucketUnreachable)) throw error;
      return { kind: "unknown", failure: error };
    }
  }

  /** There is no such object on return. */
  async delete(key: string): Promise<void> {
    const answer = await this.connection.send(
      { method: "DELETE", key },
      { isRepeatable: true },
    );
    if (answer.statusCode !== 404)
      await this.connection.expect(answer, "delete an object", 204, 200);
    await answer.body.dump();
  }

  /** Objects whose keys start with `prefix`, in the order of their keys, without the settings' prefix. */
  async *list(prefix: string): AsyncGenerator<ListedObject> {
    const all = this.#prefix.length;
    for await (const { objects } of this.#pages(prefix, {}))
      for (const object of objects)
        yield { ...object, key: object.key.slice(all) };
  }

  /** The next part of each key below `prefix`: of objects there, and of folders there. */
  async listLevel(
    prefix: string,
  ): Promise<{ readonly keys: string[]; readonly folders: string[] }> {
    const keys: string[] = [];
    const folders: string[] = [];
    const skipped = this.#prefix.length + prefix.length;
    for await (const page of this.#pages(prefix, { delimiter: "/" })) {
      for (const { key } of page.objects) keys.push(key.slice(skipped));
      for (const one of page.prefixes) folders.push(one.slice(skipped, -1));
    }
    return { keys, folders };
  }

  async *#pages(
    prefix: string,
    more: Readonly<Record<string, string>>,
  ): AsyncGenerator<Listing> {
    let from: string | undefined;
    do {
      const query = {
        "list-type": "2",
        "encoding-type": "url",
        prefix: `${this.#prefix}${prefix}`,
        ...more,
        ...(from === undefined ? {} : { "continuation-token": from }),
      };
      const answer = await this.connection.send(
        { method: "GET", key: "", query },
        { isRepeatable: true },
      );
      await this.connection.expect(answer, "list its objects", 200);
      const page = await this.#readPage(answer);
      yield page;
      from = page.next;
    } while (from !== undefined);
  }

  async #readPage(answer: BucketAnswer): Promise<Listing> {
    const text = await this.connection.readText(answer);
    return parseListing(text).catch(() => {
      throw this.connection.refusal("list its objects", 200, "no list");
    });
  }

  async close(): Promise<void> {
    await this.connection.close();
  }

  async #readEtag(answer: BucketAnswer): Promise<string> {
    await this.connection.expect(answer, "store an object", 200);
    await answer.body.dump();
    return headerOf(answer, "etag");
  }

  /** Without it an object could have no end. */
  #readSize(answer: BucketAnswer): number {
    const length = headerOf(answer, "content-length");
    if (/^\d+$/.test(length)) return Number(length);
    answer.body.destroy();
    const problem = "no Content-Length";
    throw this.connection.refusal("read an object", 200, problem);
  }

  async #find(
    asked: BucketRequest,
    isProbe = false,
  ): Promise<BucketObject | undefined> {
    const sending = { isRepeatable: true, isProbe };
    const answer = await this.connection.send(asked, sending);
    if (answer.statusCode === 404) {
      const text = await this.connection.readText(answer);
      // A bucket that is gone, or a proxy in between, says nothing about the object.
      if (asked.method === "GET" && !text.includes("<Code>NoSuchKey</Code>"))
        throw this.connection.refusal("read an object", 404, text.slice(0, 80));
      return undefined;
    }
    await this.connection.expect(answer, "read an object", 200);
    return {
      etag: headerOf(answer, "etag"),
      size: this.#readSize(answer),
      mark: headerOf(answer, markHeader),
      lastModified: new Date(headerOf(answer, "last-modified")),
      body: answer.body,
    };
  }
}

function conditionHeaders(
  condition: Condition,
): Readonly<Record<string, string>> {
  return condition.kind === "absent"
    ? { "if-none-match": "*" }
    : { "if-match": condition.etag };
}
