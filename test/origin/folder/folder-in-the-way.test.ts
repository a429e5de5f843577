import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { defaultSigner } from "../../fakes/signing.ts";
import { startMirror } from "../../running-mirror.ts";
import {
  folderHost,
  makeDist,
  makeOriginFolder,
  putRelease,
} from "../../scenes/origin-folder.ts";

const signature = "terraform-provider-signed_2.0.0_SHA256SUMS.sig";
const makePipe = (path: string) => void execFileSync("mkfifo", [path]);

/** Makers of things in the place of version 2.0.0's folder. */
const inTheWay: Readonly<Record<string, (path: string) => void>> = {
  loop: (path) => symlinkSync("2.0.0", path),
  pipe: makePipe,
};

const signer = await defaultSigner();
const root = makeOriginFolder(signer);
for (const [type, put] of Object.entries(inTheWay)) {
  putRelease(root, await makeDist({ type, version: "1.0.0" }));
  put(join(root, "acme", type, "2.0.0"));
}
for (const version of ["1.0.0", "2.0.0"])
  putRelease(root, await makeDist({ type: "signed", version }));
rmSync(join(root, "acme", "signed", "2.0.0", signature));
makePipe(join(root, "acme", "signed", "2.0.0", signature));
const origins = { [folderHost]: { directory: root } };
const mirror = await startMirror({ config: { origins } });

/** `acme` has the keys that it was made with. */
async function putNamespace(
  namespace: string,
  edit: (keys: string, publicKey: string) => void,
): Promise<string> {
  const release = await makeDist({ version: "1.0.0" });
  const folder = putRelease(root, release);
  const keys = join(root, namespace, "keys");
  mkdirSync(keys, { recursive: true });
  execFileSync("mv", [dirname(folder), join(root, namespace)]);
  edit(keys, release.signer.armoredPublicKey);
  return `v1/providers/${folderHost}/${namespace}/widget/1.0.0/download/linux/amd64`;
}

it.each([...Object.keys(inTheWay), "signed"])(
  "lists the other releases where something else is in the place of one: %s",
  async (type) => {
    const path = `providers/${folderHost}/acme/${type}/index.json`;
    const { status, body } = await mirror.get(path);
    expect([status, body.toString()]).toEqual([
      200,
      '{"versions":{"1.0.0":{}}}',
    ]);
  },
);

it("tells clients the public keys alone of what lies beside them", async () => {
  const path = await putNamespace("talks", (keys, publicKey) =>
    writeFileSync(
      join(keys, "a.asc"),
      `the passphrase is secret\n${publicKey}secret\n`,
    ),
  );
  const { status, body } = await mirror.get(path);
  expect(status).toBe(200);
  expect(body.toString()).not.toContain("secret");
  expect(body.toString()).toContain("BEGIN PGP PUBLIC KEY BLOCK");
});

it.each<[string, (path: string) => void, string]>([
  ["nobodys", (path) => writeFileSync(path, "nobody"), "no armored public key"],
  [
    "private",
    (path) =>
      writeFileSync(
        path,
        "-----BEGIN PGP PRIVATE KEY BLOCK-----\n-----END PGP PRIVATE KEY BLOCK-----\n",
      ),
    "it has a private key",
  ],
  ["piped", makePipe, "it is not a file"],
])(
  "does not know who may sign beside what is no key, and names it: %s",
  async (namespace, put, reason) => {
    const path = await putNamespace(namespace, (keys, publicKey) => {
      writeFileSync(join(keys, "a.asc"), publicKey);
      put(join(keys, "b.asc"));
    });
    const { status, body } = await mirror.get(path);
    expect(status).toBe(502);
    expect(body.toString()).toContain(`${namespace}/keys/b.asc`);
    expect(body.toString()).toContain(reason);
  },
);
