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

import type { BucketSettings } from "../../src/store/bucket/bucket.ts";
import { endWithFile } from "../file-end.ts";
import { scratch } from "../running-mirror.ts";

export const bucketLimits = { connect: 2_000, firstByte: 8_000, idle: 8_000 };

/** An object store that takes every key for good. */
export interface LooseBucket {
  /** `storage.s3` of a configuration. */
  readonly settings: Readonly<Record<string, unknown>>;
  readonly objects: Map<string, Buffer>;
  /** `METHOD KEY` of every request, in order; the key without a part's prefix. */
  readonly asked: string[];
  /** Called for each request, which goes on when it resolves; a status is the answer then. */
  intercept: (asked: string) => Promise<number | void> | number | void;
  stop(): Promise<void>;
}

export async function startLooseBucket(): Promise<LooseBucket> {
  const objects = new Map<string, Buffer>();
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const { pathname } = new URL(request.url ?? "", "http://s3/");
    const key = decodeURIComponent(pathname.replace(/^\/loose\/?/, ""));
    const sent = await buffer(request);
    const asked = `${request.method} ${key.replace(/^[0-9a-f-]{36}\//, "")}`;
    bucket.asked.push(asked);
    const instead = await bucket.intercept(asked);
    if (typeof instead === "number") {
      response.writeHead(instead).end();
      return;
    }
    const found = objects.get(key);
    if (request.method === "PUT") {
      objects.set(key, sent);
      response.writeHead(200, { etag: etagOf(sent) }).end();
    } else if (request.method === "DELETE") {
      objects.delete(key);
      response.writeHead(204).end();
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
    ...{ objects, asked: [], intercept: () => undefined },
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

function etagOf(bytes: Buffer): string {
  return `"${createHash("md5").update(bytes).digest("hex")}"`;
}
