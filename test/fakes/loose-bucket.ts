import { createHash } from "node:crypto";
import { once } from "node:events";
import {
  createServer,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { scratch } from "../running-mirror.ts";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

/** An object store that takes every key for good; real ones are Ceph's. */
export interface LooseBucket {
  /** `storage.s3` of a configuration. */
  readonly settings: Readonly<Record<string, unknown>>;
  readonly objects: ReadonlyMap<string, Buffer>;
  /** When each object was written, as RFC 3339; tests may set it. */
  readonly times: Map<string, string>;
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
    void answer(request, response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const file = join(scratch("bucket"), "secret");
  writeFileSync(file, "any", { mode: 0o600 });
  return {
    ...{ objects, times },
    settings: {
      endpoint: `http://127.0.0.1:${port}/`,
      bucket: "loose",
      accessKeyId: "any",
      secretAccessKey: { file },
    },
    stop: async () => {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
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
