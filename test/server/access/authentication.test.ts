import { describe, expect, it } from "vitest";
import { bearer, issueToken } from "../../client-token.ts";
import {
  auth,
  startAuthenticationScene,
  ci,
  fileOf,
  folder,
  host,
  old,
  young,
} from "../../scenes/authentication-scene.ts";
import {
  awaitLine,
  awaitLineOf,
  type LogLine,
} from "../../scenes/log-lines.ts";
import {
  awaitAudit,
  eventually,
  outcomeOf,
  readAudit,
} from "../../scenes/provider-requests.ts";

const index = `${folder}index.json`;
const archive = folder + fileOf("1.0.0");
const stranger = issueToken("stranger");

const { registry, mirror, release, withToken, signedPath, forge, reload } =
  await startAuthenticationScene();
const { bytes } = release.archive("linux_amd64");

const statusOf = async (headers: Record<string, string> = {}, path = index) =>
  (await mirror.get(path, { headers })).status;
const statusFor = (token: string) => statusOf(bearer(token).headers);

it.each([
  ...["/browse", "/decisions", "/why/a/b/c", "/metrics", "/nothing"],
  `/v1/providers/${host}/acme/widget/versions`,
  `/v1/modules/${host}/acme/net/aws/1.0.0/archive.tar.gz`,
  ...[index, archive, "/providers/other.example.com/acme/widget/index.json"],
])(
  "without a token %s is refused with 401 and a remedy, without a request to the origin",
  async (path) => {
    registry.requests.clear();
    const answer = await mirror.get(path);
    expect(outcomeOf(answer)).toBe("401 token-needed");
    expect(answer.headers["www-authenticate"]).toBe("Bearer");
    expect(answer.json()).toMatchObject({
      errors: [expect.stringContaining("TF_TOKEN_")],
      requestId: answer.headers["x-request-id"],
    });
    const head = await mirror.get(path, { method: "HEAD" });
    expect(head.status).toBe(401);
    expect(registry.requests.count()).toBe(0);
  },
);

it("without a token health, readiness and services are told, and what is wrong with a request before that", async () => {
  const discovery = "/.well-known/terraform.json";
  for (const path of [
    ...["/healthz", "/readyz", discovery, `/registry/${host}${discovery}`],
  ])
    expect(await statusOf({}, path)).toBe(200);
  const ask = async (method: string, path: string) =>
    outcomeOf(await mirror.get(path, { method }));
  expect(await ask("PUT", "/x")).toBe("405 method-not-allowed");
  expect(await ask("GET", "/%41/x")).toBe("400 malformed-request");
  const long = `/${"x".repeat(5_000)}`;
  expect(await ask("PUT", long)).toBe("414 uri-too-long");
});

describe("a token", () => {
  it("opens all of the mirror, and has an address looked at before its origin", async () => {
    for (const path of ["/", "/browse", "/decisions", "/metrics", index])
      expect((await withToken(path)).status, path).toBe(200);
    expect((await withToken(archive)).body.equals(bytes)).toBe(true);
    expect(await statusFor(young.token)).toBe(200);
    const bad = await withToken("/providers/other.example/A/b/index.json");
    expect(outcomeOf(bad)).toBe("400 malformed-address");
  });

  it.each([
    ["is not known", stranger],
    ["has expired", old],
  ])("is refused when it %s", async (_, { token }) => {
    const answer = await mirror.get(index, bearer(token));
    expect(outcomeOf(answer)).toBe("401 token-refused");
    expect(answer.headers["www-authenticate"]).toMatch(/^Bearer error="/);
    expect(answer.body.toString()).not.toContain(token);
  });

  it.each<Record<string, string>>([
    ...[
      ...["", "Bearer", "Bearer ", ci.token, `Token ${ci.token}`],
      `Basic ${Buffer.from(`ci:${ci.token}`).toString("base64")}`,
      `Bearer ${ci.configured.sha256}`,
      `Bearer ${ci.token} ${ci.token}`,
      `Bearer ${ci.token.slice(0, -1)}`,
      `Bearer ${ci.token.toUpperCase()}`,
    ].map((authorization) => ({ authorization })),
    { "x-token": ci.token, cookie: `token=${ci.token}` },
  ])("is not what %j sends, also with one in the query", async (headers) => {
    const query = `?access_token=${ci.token}&token=${ci.token}`;
    expect(await statusOf(headers, index + query)).toBe(401);
  });

  it("is named in the log and in the audit log, written nowhere, and never goes to the origin", async () => {
    registry.requests.clear();
    const gadget = `/providers/${host}/acme/gadget/`;
    const path = gadget + fileOf("1.0.0").replace("widget", "gadget");
    const answer = await withToken(path);
    expect((await awaitLineOf(mirror, answer)).token).toBe("ci runner");
    const served = await awaitAudit(mirror, ({ event, provider }) => {
      return event === "served" && provider === `${host}/acme/gadget`;
    });
    expect(served).toMatchObject([{ token: "ci runner" }]);
    const sent = registry.requests.list().map(({ headers }) => headers);
    expect(sent.length).toBeGreaterThan(3);
    expect(JSON.stringify(sent)).not.toMatch(/authorization/i);
    const metrics = (await withToken("/metrics")).body.toString();
    const written = JSON.stringify([mirror.log, readAudit(mirror), metrics]);
    for (const { token } of [ci, old, young, stranger])
      expect(written).not.toContain(token);
  });
});

describe("a signed archive URL", () => {
  it("needs no token, serves the archive whole, in part and as a HEAD, and is logged as the archive's own path with its holder", async () => {
    const path = await signedPath("1.0.0");
    const whole = await mirror.get(path);
    expect(whole.body.equals(bytes)).toBe(true);
    expect(await awaitLineOf(mirror, whole)).toMatchObject({
      ...{ path: archive, token: "ci runner" },
    });
    const head = await mirror.get(path, { method: "HEAD" });
    expect(head.headers["content-length"]).toBe(String(bytes.length));
    expect(await statusOf({ range: "bytes=10-19" }, path)).toBe(206);
  });

  it("is good until it expires, an hour after the document that has it was asked for", async () => {
    const path = await signedPath("1.0.0");
    // A document is also made anew when the hash of an archive is known, which two are.
    for (let last = path, count = 0; count < 3; count++)
      last = await eventually(
        () => signedPath("1.0.0"),
        (next) => next !== last,
      );
    const [, expires] = /widget\/(\d+)\./.exec(path) ?? [];
    const life = (Number(expires) - Date.now()) / 1000;
    expect(life).toBeGreaterThan(3_500);
    expect(life).toBeLessThan(3_602);
    const forged = forge(archive, Date.now() + 60_000);
    expect(await statusOf({}, forged)).toBe(200);
    const expired = await mirror.get(forge(archive, Date.now() - 1));
    expect(outcomeOf(expired)).toBe("401 archive-url-refused");
    expect(expired.body.toString()).toContain("it has expired: run init again");
    expect(expired.headers["www-authenticate"]).toBe("Bearer");
  });

  it("is refused with another signature or without, and not logged", async () => {
    const path = await signedPath("1.0.0");
    const [, signature = ""] = /\.([\w-]{43})\//.exec(path) ?? [];
    for (const other of [`.${"A".repeat(43)}`, ""]) {
      const answer = await mirror.get(path.replace(`.${signature}`, other));
      expect(answer.status).toBe(401);
      await awaitLineOf(mirror, answer);
    }
    expect(JSON.stringify(mirror.log)).not.toContain(signature);
  });
});

describe("on SIGHUP", () => {
  const metrics = async () => (await withToken("/metrics")).body.toString();

  it("a token that is added works, and one that is left out does not", async () => {
    const added = issueToken("added");
    const both = async () => [
      await statusFor(added.token),
      await statusFor(ci.token),
    ];
    await reload({ auth: { tokens: [added.configured] } });
    expect(await both()).toEqual([200, 401]);
    await reload({ auth });
    expect(await both()).toEqual([401, 200]);
  });

  it("a rule that denies holds for what was signed before", async () => {
    const path = await signedPath("2.0.0");
    expect(await statusOf({}, path)).toBe(200);
    const provider = `${host}/acme/widget`;
    const rule = { match: provider, action: "deny", versions: "2.0.0" };
    await reload({ policy: { rules: [rule] } });
    expect(await statusOf({}, path)).toBe(451);
    expect(await statusOf({ range: "bytes=0-9" }, path)).toBe(451);
    const lines = await awaitAudit(mirror, ({ event }) => event === "refused");
    expect(lines.at(-1)).toMatchObject({
      ...{ provider, version: "2.0.0", platform: "linux_amd64" },
      token: "ci runner",
    });
    await reload({ policy: {} });
    expect(await statusOf({}, path)).toBe(200);
  });

  it("an empty list of tokens keeps those in use", async () => {
    const before = mirror.log.length;
    await reload({ auth: { tokens: [] } });
    const failures = mirror.log
      .slice(before)
      .filter(({ msg }) => msg === "the configuration in use is kept");
    expect(failures.map(({ error }) => error)).toEqual([
      expect.stringMatching(/"auth\.tokens" is empty: .*auth: off/),
    ]);
    expect(await statusOf()).toBe(401);
    expect(await metrics()).toContain(
      "provender_config_last_reload_successful 0\n",
    );
  });

  it("names changed keys that wait for the next start, and says that it went well", async () => {
    const before = mirror.log.length;
    await reload({ auth, limits: { archive: "1GiB" }, offline: true });
    const names = ({ keys }: LogLine) => keys !== undefined;
    const { keys } = await awaitLine(mirror, names, before);
    expect(keys).toEqual(["offline", "limits"]);
    expect(await metrics()).toContain(
      "provender_config_last_reload_successful 1\n",
    );
  });

  it("lets everybody ask when authentication is turned off in so many words", async () => {
    const signed = await signedPath("1.0.0");
    await reload({ auth: "off" });
    expect(await statusOf({}, signed)).toBe(200);
    const document = (await mirror.get(`${folder}1.0.0.json`)).json();
    expect(document).toMatchObject({
      archives: { linux_amd64: { url: fileOf("1.0.0") } },
    });
    expect(mirror.log.map(({ msg }) => msg)).toContain(
      "authentication is off now: anybody may ask",
    );
  });
});
