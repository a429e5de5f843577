import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { createAuthority } from "../../fakes/authority.ts";
import { alteredByte, status, tokenRequired } from "../../fakes/faults.ts";
import { startRegistry, type Registry } from "../../fakes/registry.ts";
import { makeRelease, type Release } from "../../fakes/release.ts";
import { scratch, type RunningMirror } from "../../running-mirror.ts";
import {
  codeOf,
  countAlarms,
  digestsIn,
  eventually,
  listedIn,
  outcomeOf,
  readAudit,
  requestsFor,
} from "../../scenes/provider-requests.ts";
import {
  contentOnly,
  isArchiveOf,
  putIntoTree,
  startBehind,
  type Archives,
  type Edit,
} from "../../scenes/mirror-tree.ts";
import { RegistryRequests } from "../../scenes/registry-requests.ts";

const hostname = "registry.example.com";
const token = "m1rror-t0ken";
const platforms = ["linux_amd64", "darwin_arm64"];

/** A network mirror; and a host that its archives may be on. */
let far: Registry;
let elsewhere: Registry;
let caFile: string;
let mirror: RunningMirror;
let types = 0;

beforeAll(async () => {
  const authority = await createAuthority();
  far = await startRegistry({ authority });
  elsewhere = await startRegistry({ authority });
  caFile = join(scratch("ca"), "ca.pem");
  writeFileSync(caFile, authority.caPem);
  mirror = await start({ signatures: "when-published" });
});

afterEach(() => {
  far.heal();
  far.requests.clear();
  elsewhere.requests.clear();
});

afterAll(async () => {
  await mirror.stop();
  await far.stop();
  await elsewhere.stop();
});

function start(settings: Readonly<Record<string, unknown>>) {
  return startBehind(far, hostname, { ca: caFile, ...settings }, token);
}

/** Puts a release into the tree of the far mirror, as `edit` changes its VERSION.json. */
async function mirrored(edit?: Edit): Promise<Release> {
  types += 1;
  const type = `far${types}`;
  const release = await makeRelease({
    type,
    version: "1.0.0",
    platforms,
    size: 20_000,
  });
  put(release, edit);
  return release;
}

function put(release: Release, edit?: Edit): void {
  putIntoTree(far, hostname, release, edit);
  for (const { filename, bytes } of release.archives)
    elsewhere.serve(`/${filename}`, bytes, "application/zip");
}

function ask({ type }: Release, of = mirror) {
  return requestsFor(of, type, "acme", hostname);
}

describe("an origin that is a network mirror", () => {
  it("is asked for lists, digests and archives, and its word is recorded as taken without a signature", async () => {
    const release = await mirrored();
    expect(listedIn(await ask(release).index())).toEqual(["1.0.0"]);
    expect(digestsIn(await ask(release).version("1.0.0"))).toEqual(
      Object.fromEntries(
        release.archives.map(({ platform, sha256 }) => [platform, sha256]),
      ),
    );
    const archive = await ask(release).archive("1.0.0");
    const { bytes } = release.archive("linux_amd64");
    expect(archive.body.equals(bytes)).toBe(true);
    const provider = `${hostname}/acme/${release.type}`;
    const first = readAudit(mirror).find(
      (line) => line.provider === provider && line.event === "first-seen",
    );
    expect(first).toMatchObject({
      verdict: "accepted",
      rule: "signatures: unsigned-when-published",
    });
  });

  it("is refused where signatures are required, and the error says what to set", async () => {
    const release = await mirrored();
    const strict = await start({});
    try {
      for (const answer of [
        await ask(release, strict).index(),
        await ask(release, strict).version("1.0.0"),
        await ask(release, strict).archive("1.0.0"),
      ]) {
        expect(outcomeOf(answer)).toBe("451 signature-missing");
        expect(answer.body.toString()).toMatch(
          /network mirror.*\\"signatures: when-published\\"/,
        );
      }
    } finally {
      await strict.stop();
    }
  });

  it("gets the token at its own address, and no other host does", async () => {
    far.script("other", tokenRequired(token));
    const release = await mirrored((archives, { archives: [first] }) => {
      const archive = archives[first?.platform ?? ""];
      if (archive) archive.url = `${elsewhere.url}${first?.filename}`;
    });
    expect((await ask(release).index()).status).toBe(200);
    // The other host is a private address that is not configured.
    const refused = await ask(release).archive("1.0.0");
    expect(outcomeOf(refused)).toBe("502 origin-address-refused");
    expect(elsewhere.requests.count()).toBe(0);
    const open = await start({
      signatures: "off",
      allowPrivateAddresses: true,
    });
    try {
      expect((await ask(release, open).archive("1.0.0")).status).toBe(200);
    } finally {
      await open.stop();
    }
    const sent = elsewhere.requests.list();
    expect(sent).toHaveLength(1);
    expect(sent[0]?.headers.authorization).toBeUndefined();
    const home = ask(release).archive("1.0.0", { platform: "darwin_arm64" });
    expect((await home).status).toBe(200);
  });

  it("does not get an archive through that is not its zh", async () => {
    const release = await mirrored();
    await ask(release).version("1.0.0");
    far.script("other", alteredByte(1000));
    const answer = await ask(release).archive("1.0.0");
    expect(answer.status === 451 || !answer.complete).toBe(true);
    far.heal();
    expect((await ask(release).archive("1.0.0")).status).toBe(200);
  });

  it("raises an alarm when an archive does not have its h1, and clients get ours", async () => {
    const lie = `h1:${Buffer.alloc(32, 7).toString("base64")}`;
    const release = await mirrored((archives) => {
      for (const archive of Object.values(archives))
        archive.hashes = [lie, ...(archive.hashes ?? []).slice(1)];
    });
    const before = await countAlarms(mirror, "package-hash-conflict");
    await ask(release).archive("1.0.0");
    const { h1, sha256 } = release.archive("linux_amd64");
    await eventually(
      async () => {
        const { archives } = (await ask(release).version("1.0.0")).json() as {
          archives: Archives;
        };
        return archives.linux_amd64?.hashes;
      },
      (hashes) => hashes?.join() === `zh:${sha256},${h1}`,
    );
    // However often it is looked at.
    await Promise.all(
      Array.from({ length: 20 }, () => ask(release).version("1.0.0")),
    );
    expect(await countAlarms(mirror, "package-hash-conflict")).toBe(before + 1);
  });

  it("does not replace what was seen first, and may add platforms", async () => {
    const release = await mirrored((archives) => {
      delete archives.darwin_arm64;
    });
    const first = release.archive("linux_amd64").sha256;
    expect(digestsIn(await ask(release).version("1.0.0"))).toEqual({
      linux_amd64: first,
    });
    put(release);
    expect(digestsIn(await ask(release).version("1.0.0"))).toEqual({
      linux_amd64: first,
      darwin_arm64: release.archive("darwin_arm64").sha256,
    });
    put(await makeRelease({ ...release.options, seed: "another" }));
    expect(digestsIn(await ask(release).version("1.0.0"))).toMatchObject({
      linux_amd64: first,
    });
    const { status } = await ask(release).archive("1.0.0");
    expect(status).toBe(451);
  });

  it("is verified by content alone where it lists no zh: each archive is fetched once, compared with its h1 and named", async () => {
    const release = await mirrored(contentOnly);
    const { h1, sha256, bytes } = release.archive("linux_amd64");
    const hashes = async () => {
      const answer = await ask(release).version("1.0.0");
      const { archives } = answer.json() as { archives: Archives };
      return archives;
    };
    const url = (platform: string) => release.archive(platform).filename;
    const darwin = release.archive("darwin_arm64").h1;
    expect(await hashes()).toEqual({
      linux_amd64: { url: url("linux_amd64"), hashes: [h1] },
      darwin_arm64: { url: url("darwin_arm64"), hashes: [darwin] },
    });
    const asked = () => far.requests.list().filter(isArchiveOf(release)).length;
    expect(asked()).toBe(0);
    const answers = await Promise.all(
      [1, 2, 3, 4, 5].map(() => ask(release).archive("1.0.0")),
    );
    for (const answer of answers) expect(answer.body.equals(bytes)).toBe(true);
    expect(asked()).toBe(1);
    expect(await hashes()).toEqual({
      linux_amd64: { url: url("linux_amd64"), hashes: [`zh:${sha256}`, h1] },
      darwin_arm64: { url: url("darwin_arm64"), hashes: [darwin] },
    });
    far.script("other", status(500));
    expect((await ask(release).archive("1.0.0")).body.equals(bytes)).toBe(true);
    expect(asked()).toBe(1);
  });

  it("is refused an archive whose content is not the h1 that it tells alone", async () => {
    const lie = `h1:${Buffer.alloc(32, 9).toString("base64")}`;
    const release = await mirrored((archives) => {
      contentOnly(archives);
      if (archives.linux_amd64) archives.linux_amd64.hashes = [lie];
    });
    const answer = await ask(release).archive("1.0.0");
    expect(outcomeOf(answer)).toBe("451 archive-digest");
    expect(answer.body.toString()).toContain(
      `expected ${lie}, the origin sent ${release.archive("linux_amd64").h1}`,
    );
    const other = { platform: "darwin_arm64" };
    expect((await ask(release).archive("1.0.0", other)).status).toBe(200);
  });

  it("is refused one by one what has several zh, and wholly what has no hash", async () => {
    const partly = await mirrored((archives) => {
      archives.linux_amd64?.hashes?.push(`zh:${"0".repeat(64)}`);
    });
    expect(digestsIn(await ask(partly).version("1.0.0"))).toEqual({
      darwin_arm64: partly.archive("darwin_arm64").sha256,
    });
    const none = await mirrored((archives) => {
      for (const archive of Object.values(archives)) delete archive.hashes;
    });
    const answer = await ask(none).version("1.0.0");
    expect(outcomeOf(answer)).toBe("502 origin-answer");
    expect(answer.body.toString()).toContain("zh:");
  });

  it("answers 404 for what it does not have, 502 while it fails, and what is stored all the same", async () => {
    const release = await mirrored();
    const unknown = requestsFor(mirror, "unknown", "acme", hostname);
    expect((await unknown.index()).status).toBe(404);
    expect((await ask(release).version("2.0.0")).status).toBe(404);
    const solaris = { platform: "solaris_amd64" };
    expect((await ask(release).archive("1.0.0", solaris)).status).toBe(404);
    expect((await ask(release).archive("1.0.0")).status).toBe(200);
    const late = await mirrored();
    far.script("other", status(500));
    expect((await ask(late).index()).status).toBe(502);
    expect((await ask(release).index()).status).toBe(200);
    expect((await ask(release).archive("1.0.0")).status).toBe(200);
  });

  it("has nothing that clients behind a host block could check", async () => {
    const release = await mirrored();
    expect((await ask(release).version("1.0.0")).status).toBe(200);
    const facade = new RegistryRequests(mirror, release.type, hostname);
    for (const path of ["versions", ...facade.pathsOf("1.0.0")]) {
      const answer = await facade.get(path);
      expect([answer.status, codeOf(answer)]).toEqual([
        451,
        "nothing-to-verify",
      ]);
    }
  });
});
