import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { connect } from "node:net";
import { join } from "node:path";
import { createAuthority } from "../test/fakes/authority.ts";
import { scratch } from "./scratch.ts";
import { endChild } from "./child.ts";
import { programPath } from "./programs.ts";

/** nginx with one worker on loopback; what lies in `root` is served over TLS. */
export interface Nginx {
  readonly url: string;
  readonly ca: string;
  readonly root: string;
  readonly pid: number;
  readonly stop: () => Promise<void>;
}

export async function startNginx(): Promise<Nginx> {
  const folder = scratch("nginx");
  const root = join(folder, "root");
  mkdirSync(root);
  const authority = await createAuthority();
  const issued = await authority.issue(["127.0.0.1"]);
  writeFileSync(join(folder, "certificate.pem"), issued.certificate);
  writeFileSync(join(folder, "key.pem"), issued.key, { mode: 0o600 });
  const port = await findFreePort();
  writeFileSync(join(folder, "nginx.conf"), configure(port));
  const child = spawn(
    programPath("nginx"),
    ["-p", folder, "-c", "nginx.conf", "-e", "stderr"],
    { stdio: ["ignore", "ignore", "ignore"] },
  );
  await untilListening(port);
  return {
    url: `https://127.0.0.1:${port}/`,
    ca: authority.caPem,
    root,
    pid: child.pid ?? 0,
    stop: () => endChild(child),
  };
}

/** As Debian's: sendfile, tcp_nopush and a log of requests; connections are kept, as ours are. */
function configure(port: number): string {
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (kind) => `${kind}_temp_path temporary;`,
  );
  const user = process.getuid?.() === 0 ? "user root;" : "";
  return `${user} daemon off; worker_processes 1; pid nginx.pid;
events { worker_connections 768; }
http {
  sendfile on; tcp_nopush on; access_log access.log; ${temporary.join(" ")}
  keepalive_requests 1000000000;
  types { application/json json; application/zip zip; }
  server {
    listen 127.0.0.1:${port} ssl;
    ssl_certificate certificate.pem; ssl_certificate_key key.pem;
    ssl_protocols TLSv1.2 TLSv1.3;
    root root;
  }
}
`;
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

async function untilListening(port: number): Promise<void> {
  const deadline = performance.now() + 5_000;
  for (;;) {
    const socket = connect(port, "127.0.0.1");
    try {
      await once(socket, "connect");
      return;
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, 20));
    } finally {
      socket.destroy();
    }
  }
}
