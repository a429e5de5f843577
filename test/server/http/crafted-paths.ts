import { createHash } from "node:crypto";

const host = "registry.terraform.io";
const provider = `/providers/${host}/acme/demo`;

/** Ways to say "up", "root" or "end" that some program or other has understood. */
const payloads: readonly string[] = [
  "..",
  "../..",
  "../../../../../../etc/passwd",
  "..%2f..%2fetc%2fpasswd",
  "%2e%2e",
  "%2e%2e/%2e%2e/etc/passwd",
  "%252e%252e%252f",
  "..%5c..%5c",
  "..\\..\\etc\\passwd",
  "....//....//",
  "..;/",
  ".;/..;/",
  "%c0%ae%c0%ae/",
  "%ef%bc%8e%ef%bc%8e/",
  "%00",
  "demo%00.json",
  "demo\0",
  "demo%0d%0aX-A:%20b",
  "demo%20",
  "~root",
  "$HOME",
  "{..}",
  "*",
  "file:///etc/passwd",
  "//etc/passwd",
  "/etc/passwd",
  "C:\\Windows\\win.ini",
  "\\\\host\\share",
  "proc/self/environ",
  ".",
  "",
  ".staging",
  "..records",
  "tls/v1/ca-key.pem",
  ".git/config",
  "demo#",
  "Demo",
  "de_mo_",
  "-demo",
  "demo-",
  "d\u00e9mo",
  "__proto__",
  "a".repeat(65),
  "a".repeat(1_900),
  "a".repeat(3_000),
];

/** Places where a client's words become a name. */
const places: readonly ((payload: string) => string)[] = [
  (payload) => `/${payload}`,
  (payload) => `/providers/${payload}`,
  (payload) => `/providers/${payload}/acme/demo/index.json`,
  (payload) => `/providers/${host}/${payload}/demo/index.json`,
  (payload) => `/providers/${host}/acme/${payload}/index.json`,
  (payload) => `${provider}/${payload}`,
  (payload) => `${provider}/${payload}.json`,
  (payload) => `${provider}/${payload}/index.json`,
  (payload) => `${provider}/1.2.3${payload}.json`,
  (payload) => `${provider}/${payload}.zip`,
  (payload) => `${provider}/terraform-provider-demo_${payload}_linux_amd64.zip`,
  (payload) => `${provider}/terraform-provider-demo_1.2.3_linux_${payload}.zip`,
  (payload) =>
    `${provider}/terraform-provider-${payload}_1.2.3_linux_amd64.zip`,
  (payload) => `/v1/providers/${host}/acme/${payload}/versions`,
  (payload) => `/v1/providers/${host}/${payload}/demo/versions`,
  (payload) =>
    `/v1/providers/${host}/acme/demo/${payload}/download/linux/amd64`,
  (payload) =>
    `/v1/providers/${host}/acme/demo/1.2.3/download/${payload}/amd64`,
  (payload) =>
    `/v1/providers/${host}/acme/demo/1.2.3/download/linux/${payload}`,
  (payload) => `/v1/modules/${host}/acme/${payload}/aws/versions`,
  (payload) => `/.well-known/${payload}`,
  (payload) => `http://${host}/providers/${payload}`,
  (payload) => `/healthz/${payload}`,
  (payload) => `/metrics${payload}`,
];

/** None of these names anything, but for some that name a page. */
export function craftedPaths(): readonly string[] {
  return places.flatMap((place) => payloads.map(place));
}

const valid: readonly string[] = [
  `${provider}/index.json`,
  `${provider}/1.2.3.json`,
  `${provider}/terraform-provider-demo_1.2.3_linux_amd64.zip`,
  `/v1/providers/${host}/acme/demo/versions`,
  `/v1/providers/${host}/acme/demo/1.2.3/download/linux/amd64`,
  "/healthz",
];

const fragments = ["/", "..", "%2e", ".json", ".zip", "_", "-", "1.2.3", "?"];

/** Good paths with a few bytes changed, and bytes alone; the same for the same seed. */
export function* randomPaths(seed: number, count: number): Generator<string> {
  for (let index = 0; index < count; index++) {
    const random = createHash("sha512").update(`${seed} ${index}`).digest();
    const good = valid[random.readUInt8(0) % valid.length] ?? "";
    yield random.readUInt8(1) < 26
      ? random.toString("latin1", 2)
      : mutate(good, random);
  }
}

function mutate(path: string, random: Buffer): string {
  let text = path;
  for (let change = 0; change <= random.readUInt8(2) % 3; change++) {
    const at = random.readUInt16LE(3 + 4 * change) % (text.length + 1);
    const byte = random.readUInt8(5 + 4 * change);
    const kind = random.readUInt8(6 + 4 * change);
    const inserted =
      kind % 3 === 0
        ? (fragments[byte % fragments.length] ?? "")
        : String.fromCharCode(kind % 3 === 1 ? byte : 97 + (byte % 26));
    const removed = kind < 128 ? 1 : 0;
    text = text.slice(0, at) + inserted + text.slice(at + removed);
  }
  return text;
}
