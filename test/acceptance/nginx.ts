import { spawn, type ChildProcess } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { connect, createServer, type AddressInfo } from "node:net";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { endingWithTests } from "../child-process.ts";
import type { Authority } from "../fakes/authority.ts";
import { scratch } from "../running-mirror.ts";

/** nginx over HTTPS with these directives in its one server. */
export async function startServer(
  nginx: string,
  authority: Authority,
  directives: string,
) {
  const directory = scratch("nginx");
  const { certificate, key } = await authority.issue(["127.0.0.1"]);
  await writeFile(join(directory, "certificate.pem"), certificate);
  await writeFile(join(directory, "key.pem"), key);
  const port = await findFreePort();
  const file = join(directory, "nginx.conf");
  await writeFile(file, configure(directory, directives, port));
  const log = join(directory, "error.log");
  const flags = ["-p", directory, "-c", file, "-e", log];
  // A single process leaves no children when a signal ends it.
  const child = spawn(...endingWithTests(nginx, flags), { stdio: "ignore" });
  const exit = once(child, "exit");
  await untilListening(port, child);
  return {
    url: `https://127.0.0.1:${port}/`,
    stop: async () => {
      child.kill("SIGTERM");
      await exit;
    },
  };
}

function configure(
  directory: string,
  directives: string,
  port: number,
): string {
  const user = process.getuid?.() === 0 ? "user root;" : "";
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    .map((name) => `${name}_temp_path ${directory}/${name};`)
    .join("\n  ");
  return `${user}
pid ${directory}/nginx.pid;
daemon off;
master_process off;
worker_processes 1;
events {}
http {
  ${temporary}
  access_log off;
  types { application/json json; application/zip zip; }
  server {
    listen 127.0.0.1:${port} ssl;
    ssl_certificate ${directory}/certificate.pem;
    ssl_certificate_key ${directory}/key.pem;
    ${directives}
  }
}
`;
}

export async function untilListening(
  port: number,
  nginx: ChildProcess,
): Promise<void> {
  while (nginx.exitCode === null) {
    const socket = connect(port, "127.0.0.1");
    const isOpen = await once(socket, "connect").then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (isOpen) return;
    await pause(20);
  }
  throw new Error(`the proxy ended with ${nginx.exitCode}`);
}

export async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
