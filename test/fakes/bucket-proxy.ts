import { once } from "node:events";
import { Agent, createServer, request, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import type { BucketSettings } from "../../src/store/bucket/bucket-settings.ts";

/** The store has nothing of the request yet, half of its body, or answered, which the replica has not heard. */
export type BucketStep = "asked" | "half" | "done";

/** Stands between replicas and a real object store, and sees what they ask there. */
export interface BucketProxy {
  /** The same bucket, by way of this. */
  readonly settings: BucketSettings;
  /** `METHOD KEY` of every request, in order; the key without the bucket and the prefix. */
  readonly asked: string[];
  /** Called at each step of each request, which goes on when it resolves; a status is the answer then. */
  intercept: (
    step: BucketStep,
    asked: string,
  ) => Promise<number | void> | number | void;
  stop(): Promise<void>;
}

export async function startBucketProxy(
  behind: BucketSettings,
): Promise<BucketProxy> {
  const agent = new Agent({ keepAlive: true });
  const root = `/${behind.bucket}/${behind.prefix}`;
  const pass = async (incoming: IncomingMessage, body: Buffer) => {
    const { method = "GET", url = "/" } = incoming;
    const { pathname } = new URL(url, behind.endpoint);
    const isObject = pathname.startsWith(root);
    const named = isObject ? pathname.slice(root.length) : "";
    const asked = `${method} ${decodeURIComponent(named)}`;
    proxy.asked.push(asked);
    const before = await proxy.intercept("asked", asked);
    if (typeof before === "number") return { status: before };
    // The signature names the host that the replica asked.
    const headers = incoming.rawHeaders;
    const { hostname, port } = behind.endpoint;
    const options = { hostname, port, method, path: url, headers, agent };
    const outgoing = request(options);
    const response = once(outgoing, "response") as Promise<[IncomingMessage]>;
    response.catch(() => undefined);
    const half = body.length >> 1;
    if (half > 0) outgoing.write(body.subarray(0, half));
    await proxy.intercept("half", asked);
    outgoing.end(body.subarray(half));
    const [answer] = await response;
    const content = await buffer(answer);
    const after = await proxy.intercept("done", asked);
    return typeof after === "number"
      ? { status: after }
      : { status: answer.statusCode ?? 0, raw: answer.rawHeaders, content };
  };
  const server = createServer((incoming, response) => {
    void buffer(incoming)
      .then((body) => pass(incoming, body))
      .then(({ status, raw = [], content }) => {
        response.sendDate = false;
        response.writeHead(status, raw).end(content);
      })
      .catch(() => response.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const endpoint = new URL(`http://127.0.0.1:${port}/`);
  const proxy: BucketProxy = {
    settings: { ...behind, endpoint },
    asked: [],
    intercept: () => undefined,
    stop: async () => {
      agent.destroy();
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
  return proxy;
}
