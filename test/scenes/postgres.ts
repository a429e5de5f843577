import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { findFreePort } from "../acceptance/servers.ts";
import { endingWithTests } from "../child-process.ts";

/** PostgreSQL refuses to run as root. */
function findUser() {
  if (process.getuid?.() !== 0) return {};
  const idOf = (option: string) =>
    Number(execFileSync("id", [option, "nobody"], { encoding: "utf8" }));
  return { uid: idOf("-u"), gid: idOf("-g") };
}

export type Postgres = Awaited<ReturnType<typeof startPostgres>>;

/** A PostgreSQL of its own on the loopback interface. */
export async function startPostgres() {
  const user = findUser();
  const folder = mkdtempSync(join(tmpdir(), "provender-postgres-"));
  chmodSync(folder, 0o700);
  if (user.uid !== undefined) chownSync(folder, user.uid, user.gid);
  const data = join(folder, "data");
  const made = ["-U", "provender", "--auth=trust", "-E", "UTF8", "--locale=C"];
  execFileSync("initdb", ["-D", data, "--no-sync", ...made], {
    ...user,
    cwd: folder,
    stdio: "pipe",
  });
  const port = await findFreePort();
  const urlOf = (name: string) =>
    `postgres://provender:secret@127.0.0.1:${port}/${name}`;
  let server: ChildProcess | undefined;
  const start = async () => {
    const place = ["-D", data, "-h", "127.0.0.1", "-p", String(port)];
    const [command, args] = endingWithTests("postgres", [
      ...place,
      ...["-k", "", "-c", "fsync=off"],
    ]);
    const started = spawn(command, args, {
      ...user,
      cwd: folder,
      stdio: ["ignore", "ignore", "pipe"],
    });
    server = started;
    let said = "";
    const kept = started.stderr.iterator({ destroyOnReturn: false });
    for await (const piece of kept) {
      said += String(piece);
      if (said.includes("ready to accept connections")) break;
    }
    started.stderr.resume();
    if (started.exitCode !== null) throw new Error(said);
  };
  const stop = async () => {
    if (server?.exitCode !== null) return;
    const ended = once(server, "exit");
    server.kill("SIGINT");
    await ended;
  };
  await start();
  return {
    start,
    /** Ends every connection, as a restart does. */
    stop,
    /** Makes an empty database and returns its URL. */
    createDatabase: async () => {
      const name = `d${crypto.randomUUID().replaceAll("-", "")}`;
      const client = new Client(urlOf("postgres"));
      await client.connect();
      await client.query(`CREATE DATABASE ${name}`);
      await client.end();
      return urlOf(name);
    },
    close: async () => {
      await stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
