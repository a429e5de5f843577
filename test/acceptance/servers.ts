import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { connect, createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { endingWithTests } from "../child-process.ts";
import type { Authority } from "../fakes/authority.ts";
import { scratch } from "../running-mirror.ts";

export async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

/** A server of others, once it listens on its port. */
export async function startServer(
  port: number,
  program: string,
  args: readonly string[],
) {
  const child = spawn(...endingWithTests(program, args), { stdio: "ignore" });
  const exit = once(child, "exit");
  for (;;) {
    if (child.exitCode !== null)
      throw new Error(`${program} ended with ${child.exitCode}`);
    const socket = connect(port, "127.0.0.1");
    const isOpen = await once(socket, "connect").then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (isOpen) break;
    await pause(20);
  }
  return {
    pid: child.pid ?? 0,
    stop: async () => {
      child.kill("SIGTERM");
      await exit;
    },
  };
}

/** nginx over HTTPS with these directives in its one server, where `root` is a folder of its own; as Debian's, but that connections are kept. */
export async function startNginx(
  nginx: string,
  authority: Authority,
  directives: string,
) {
  const folder = scratch("nginx");
  const root = join(folder, "root");
  mkdirSync(root);
  const { certificate, key } = await authority.issue(["127.0.0.1"]);
  writeFileSync(join(folder, "certificate.pem"), certificate);
  writeFileSync(join(folder, "key.pem"), key, { mode: 0o600 });
  const port = await findFreePort();
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (kind) => `${kind}_temp_path temporary;`,
  );
  // A single process leaves no children when a signal ends it.
  const text = `${process.getuid?.() === 0 ? "user root;" : ""}
pid nginx.pid; daemon off; master_process off; worker_processes 1;
events { worker_connections 768; }
http {
  ${temporary.join(" ")}
  sendfile on; tcp_nopush on; access_log access.log; keepalive_requests 1000000000;
  types { application/json json; application/zip zip; }
  server {
    listen 127.0.0.1:${port} ssl;
    ssl_certificate certificate.pem; ssl_certificate_key key.pem;
    ssl_protocols TLSv1.2 TLSv1.3;
    ${directives}
  }
}
`;
  writeFileSync(join(folder, "nginx.conf"), text);
  const log = join(folder, "error.log");
  const args = ["-p", folder, "-c", "nginx.conf", "-e", log];
  const server = await startServer(port, nginx, args);
  return { ...server, root, url: `https://127.0.0.1:${port}/` };
}
