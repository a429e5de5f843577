import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { setImmediate as turn } from "node:timers/promises";
import { it } from "vitest";
import type { OpenArchive } from "../../../src/mirror/archives/archives.ts";
import { sendArchive } from "../../../src/server/http/archive-response.ts";
import type { RequestContext } from "../../../src/server/http/request-context.ts";

it.each(["waits for its turn", "asks its origin"])(
  "an archive that fails once its client has left, while it %s, is nobody's unhandled rejection",
  async (when) => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const client = connect(port, "127.0.0.1");
    client.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    const [, res] = (await once(server, "request")) as [
      unknown,
      ServerResponse,
    ];
    const never = new Promise<void>(() => undefined);
    const { promise: started, reject } = Promise.withResolvers<void>();
    started.catch(() => undefined);
    const admitted = when === "waits for its turn" ? never : Promise.resolve();
    const archive: Partial<OpenArchive> = { admitted, started };
    const ctx: Partial<RequestContext> = { res };
    const sent = sendArchive(
      ctx as RequestContext,
      archive as OpenArchive,
      "a.zip",
      600_000,
    );
    await turn();
    client.destroy();
    await sent;
    // The runner fails for a rejection that nobody handles.
    reject(new Error("canceled"));
    await turn();
    server.close();
  },
);
