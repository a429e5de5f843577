import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createAuthority } from "../fakes/authority.ts";
import { alteredByte, body } from "../fakes/faults.ts";
import { startRegistry, type Registry } from "../fakes/registry.ts";
import type { Release } from "../fakes/release.ts";
import { createSigner } from "../fakes/signing.ts";
import {
  directConfig,
  findClients,
  isOlderTerraform,
  ownHashes,
  readLockFile,
  runClient,
  writeConfiguration,
  type Client,
} from "./clients.ts";

const clients = await findClients();
if (clients.length === 0)
  it.skip("the fake registry meets a real client: none is on PATH", () =>
    undefined);

const address = "registry.terraform.io/acme/widget";

let scratch: string;
let caFile: string;
let registry: Registry;
let release: Release;

beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), "provender-direct-"));
  caFile = join(scratch, "ca.pem");
  const authority = await createAuthority();
  await writeFile(caFile, authority.caPem);
  registry = await startRegistry({ authority });
  release = await registry.publish({
    version: "1.2.3",
    platforms: ["linux_amd64", "darwin_arm64"],
    size: 100_000,
    content: "half",
  });
});

afterAll(async () => {
  await registry.stop();
  await rm(scratch, { recursive: true });
});

beforeEach(() => {
  registry.heal();
  registry.requests.clear();
});

async function run(client: Client, ...args: string[]) {
  const directory = await mkdtemp(join(scratch, "configuration-"));
  await writeConfiguration(directory, {
    widget: { source: address, version: "~> 1.2" },
  });
  const cliConfig = directConfig(registry.providersUrl);
  const ran = await runClient(client, args, { directory, cliConfig, caFile });
  return { ...ran, directory };
}

describe.each(clients)("$name $version and the fake registry", (client) => {
  it("installs a provider, checks its signature and locks its hashes", async () => {
    const { status, output, directory } = await run(client, "init");

    expect(output).toMatch(
      /Installed .*acme\/widget v1\.2\.3 \((self-)?signed/,
    );
    expect(output).toContain(release.signer.keyId);
    expect(status).toBe(0);
    const locked = (await readLockFile(directory)).get(address);
    expect(locked?.version).toBe("1.2.3");
    expect(locked?.hashes.toSorted()).toEqual(
      [
        release.archive("linux_amd64").h1,
        ...release.archives.map(({ sha256 }) => `zh:${sha256}`),
      ].toSorted(),
    );
    const methods = registry.requests.list("archive").map((r) => r.method);
    // Terraform asks for the head of an archive before it asks for the archive.
    const asks = client.name === "terraform" && !isOlderTerraform(client);
    expect(methods).toEqual(asks ? ["HEAD", "GET"] : ["GET"]);
  });

  it("installs a provider whose key is EdDSA and whose URLs are relative", async () => {
    const signer = await createSigner({ algorithm: "ed25519" });
    const newer = await registry.publish({
      version: "1.3.0",
      signer,
      urls: "relative",
    });
    const { status, output } = await run(client, "init");
    registry.withdraw(newer);
    if (isOlderTerraform(client)) {
      expect(output).toContain("unsupported feature: public key type: 22");
      return;
    }

    expect(output).toContain(`key ID ${signer.keyId}`);
    expect(status).toBe(0);
  });

  it("refuses a signature over other checksums", async () => {
    registry.script("checksums", body(`${release.checksums}\n`));
    const { status, output } = await run(client, "init");

    expect(output).toMatch(/invalid signature/);
    expect(status).toBe(1);
  });

  it("refuses an archive with one altered byte", async () => {
    registry.script("archive", alteredByte(1000));
    const { status, output } = await run(client, "init");

    expect(output).toMatch(/checksum/);
    expect(status).toBe(1);
  });
});

describe.each(clients)("$name $version providers mirror", (client) => {
  it("writes the archives and hashes of two platforms", async () => {
    const { status, output, directory } = await run(
      client,
      "providers",
      "mirror",
      "-platform=linux_amd64",
      "-platform=darwin_arm64",
      "mirrored",
    );

    expect(output).not.toMatch(/Error/);
    expect(status).toBe(0);
    const mirrored = join(directory, "mirrored", address);
    const document = await readFile(join(mirrored, "1.2.3.json"), "utf8");
    expect(JSON.parse(document)).toEqual({
      archives: Object.fromEntries(
        release.archives.map((archive) => [
          archive.platform,
          {
            hashes: ownHashes(client, archive).slice(-1),
            url: archive.filename,
          },
        ]),
      ),
    });
    for (const { filename, bytes } of release.archives)
      expect(bytes.equals(await readFile(join(mirrored, filename)))).toBe(true);
  });
});
