import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { TLSSocket } from "node:tls";
import { describe, expect, it } from "vitest";
import { createAuthority } from "../fakes/authority.ts";
import { scratch, startMirror, type RunningMirror } from "../running-mirror.ts";
import { awaitMessage } from "../scenes/log-lines.ts";
import { openConnection } from "../scenes/raw-connection.ts";

async function certificateOf(mirror: RunningMirror): Promise<string> {
  const socket = await openConnection(mirror);
  if (!(socket instanceof TLSSocket)) throw new Error("no TLS");
  const { fingerprint256 } = socket.getPeerCertificate();
  socket.destroy();
  return fingerprint256;
}

const folder = scratch("tls");
const caFile = join(folder, "ca.pem");
const files = {
  certificate: join(folder, "tls.crt"),
  key: join(folder, "tls.key"),
};
const authority = await createAuthority();
await writeFile(caFile, authority.caPem);
await renew();
const config = { listen: { port: 0, tls: files } };
const mirror = await startMirror({ config, caFile });

async function renew(): Promise<void> {
  const issued = await authority.issue(["127.0.0.1"]);
  await writeFile(files.key, issued.key, { mode: 0o600 });
  await writeFile(files.certificate, issued.certificate);
}

describe("certificate files", () => {
  it("are read again on SIGHUP: new connections get the new certificate, open ones stay", async () => {
    const before = await certificateOf(mirror);
    const open = await openConnection(mirror);

    await renew();
    mirror.process.kill("SIGHUP");
    await awaitMessage(mirror, "certificate loaded");

    expect(await certificateOf(mirror)).not.toBe(before);
    expect((await mirror.get("/healthz")).status).toBe(200);
    open.write("GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    const [answer] = (await open.take(1).toArray()) as Buffer[];
    expect(answer?.toString()).toMatch(/^HTTP\/1\.1 200 /);
  });

  it("stay in use on SIGHUP when the new key belongs to another certificate", async () => {
    const before = await certificateOf(mirror);
    await writeFile(files.key, (await authority.issue(["127.0.0.1"])).key);
    mirror.process.kill("SIGHUP");
    const line = await awaitMessage(mirror, "the certificate in use is kept");
    expect(JSON.stringify(line)).toContain(files.key);
    expect(await certificateOf(mirror)).toBe(before);
  });
});
