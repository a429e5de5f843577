import { createHash } from "node:crypto";
import { once } from "node:events";
import {
  createServer,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

import type { BucketSettings } from "../../src/store/bucket/bucket-settings.ts";
import { endWithFile } from "../file-end.ts";
import { scratch } from "../running-mirror.ts";

export const bucketLimits = { connect: 2_000, firstByte: 8_000, idle: 8_000 };

/** An object store that takes every key for good. */
export interface LooseBucket {
  /** `storage.s3` of a configuration. */
  readonly settings: Readonly<Record<string, unknown>>;
  readonly objects: ReadonlyMap<string, Buffer>;
  /** When each object was written, as RFC 3339; tests may set it. */
  readonly times: Map<string, string>;
  /** `METHOD KEY` of every request, in order; the key without a part's prefix. */
  readonly asked: string[];
  /** Called for each request, which goes on when it resolves; a status is the answer then. */
  intercept: (asked: string) => Promise<number | void> | number | void;
  /** Milliseconds that its clock is ahead. */
  ahead: number;
  stop(): Promise<void>;
}

/**
 * Starts a bucket. Without `keepsConditions` the last write wins under any
 * condition.
 */
export async function startLooseBucket({
  keepsConditions,
}: {
  readonly keepsConditions: boolean;
}): Promise<LooseBucket> {
  const objects = new Map<string, Buffer>();
  const times = new Map<string, string>();
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const { pathname, searchParams } = new URL(request.url ?? "", "http://s3/");
    const key = decodeURIComponent(pathname.replace(/^\/loose\/?/, ""));
    const sent = await buffer(request);
    response.setHeader(
      "date",
      new Date(Date.now() + bucket.ahead).toUTCString(),
    );
    const asked = `${request.method} ${key.replace(/^[0-9a-f-]{36}\//, "")}`;
    bucket.asked.push(asked);
    const instead = await bucket.intercept(asked);
    if (typeof instead === "number") {
      response.writeHead(instead).end();
      return;
    }
    const found = objects.get(key);
    const isList = searchParams.get("list-type") !== null;
    if (request.method === "PUT") {
      const isRefused = keepsConditions && !mayWrite(request, found);
      if (!isRefused) {
        objects.set(key, sent);
        times.set(key, new Date().toISOString());
      }
      response.writeHead(isRefused ? 412 : 200, { etag: etagOf(sent) }).end();
    } else if (request.method === "DELETE") {
      objects.delete(key);
      response.writeHead(204).end();
    } else if (isList) {
      response.end(list(objects, times, searchParams));
    } else if (found === undefined) {
      response.writeHead(404).end("<Error><Code>NoSuchKey</Code></Error>");
    } else {
      response.writeHead(200, {
        etag: etagOf(found),
        "content-length": found.length,
        "last-modified": new Date().toUTCString(),
      });
      response.end(request.method === "HEAD" ? undefined : found);
    }
  };
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const file = join(scratch("bucket"), "secret");
  writeFileSync(file, "any", { mode: 0o600 });
  const bucket: LooseBucket = {
    ...{ objects, times },
    ...{ asked: [], intercept: () => undefined, ahead: 0 },
    settings: {
      endpoint: `http://127.0.0.1:${port}/`,
      bucket: "loose",
      accessKeyId: "any",
      secretAccessKey: { file },
    },
    stop: async () => {
      if (!server.listening) return;
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
  endWithFile(() => bucket.stop());
  return bucket;
}

export function settingsOf(endpoint: URL, bucket: string): BucketSettings {
  const keys = { accessKeyId: "any", secretAccessKey: "any" };
  const where = { bucket, endpoint, region: "us-east-1", prefix: "p/" };
  return { ...where, pathStyle: true, ca: undefined, keys };
}

function mayWrite(
  { headers }: IncomingMessage,
  found: Buffer | undefined,
): boolean {
  const { "if-none-match": absent, "if-match": same } = headers;
  if (absent !== undefined) return found === undefined;
  return same === undefined || (found !== undefined && etagOf(found) === same);
}

function etagOf(bytes: Buffer): string {
  return `"${createHash("md5").update(bytes).digest("hex")}"`;
}

function list(
  objects: ReadonlyMap<string, Buffer>,
  times: ReadonlyMap<string, string>,
  asked: URLSearchParams,
): string {
  const prefix = asked.get("prefix") ?? "";
  const isEncoded = asked.get("encoding-type") === "url";
  const write = isEncoded ? encodeURIComponent : (key: string) => key;
  const below = [...objects.keys()].filter((key) => key.startsWith(prefix));
  const slashOf = (key: string) =>
    asked.get("delimiter") === "/" ? key.indexOf("/", prefix.length) : -1;
  const keys = below.filter((key) => slashOf(key) < 0);
  const folders = below.flatMap((key) =>
    slashOf(key) < 0 ? [] : [key.slice(0, slashOf(key) + 1)],
  );
  const prefixes = [...new Set(folders)].map(
    (one) => `<CommonPrefixes><Prefix>${write(one)}</Prefix></CommonPrefixes>`,
  );
  const contents = keys.toSorted().map((key) => {
    const bytes = objects.get(key) ?? Buffer.of();
    const at = times.get(key) ?? "";
    return `<Contents><Key>${write(key)}</Key><Size>${bytes.length}</Size><ETag>${etagOf(bytes)}</ETag><LastModified>${at}</LastModified></Contents>`;
  });
  return `<ListBucketResult><IsTruncated>false</IsTruncated>${[...contents, ...prefixes].join("")}</ListBucketResult>`;
}
