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
import { awaitLine, awaitLineOf } from "../../scenes/log-lines.ts";
import {
  outcomeOf,
  awaitAudit,
  readAudit,
} from "../../scenes/provider-requests.ts";

const stranger = issueToken("stranger");
const index = `${folder}index.json`;

const scene = await startAuthenticationScene();

const statusOf = async (headers: Record<string, string> = {}, path = index) =>
  (await scene.mirror.get(path, { headers })).status;
const statusFor = (token: string) => statusOf(bearer(token).headers);

describe("without a token", () => {
  it.each([
    "/browse",
    "/metrics",
    "/nothing",
    `/v1/providers/${host}/acme/widget/versions`,
    `/v1/providers/${host}/acme/widget/1.0.0/terraform-provider-widget_1.0.0_SHA256SUMS`,
    `/v1/modules/${host}/acme/net/aws/versions`,
    `/v1/modules/${host}/acme/net/aws/1.0.0/archive.tar.gz`,
    index,
    `${folder}1.0.0.json`,
    folder + fileOf("1.0.0"),
    "/providers/other.example.com/acme/widget/index.json",
  ])(
    "%s is refused with 401 and a remedy, without a request to the origin",
    async (path) => {
      scene.registry.requests.clear();
      const answer = await scene.mirror.get(path);
      expect(outcomeOf(answer)).toBe("401 token-needed");
      expect(answer.headers).toMatchObject({
        "www-authenticate": "Bearer",
        "content-type": "application/json",
        "cache-control": "no-store",
      });
      expect(answer.json()).toMatchObject({
        errors: [expect.stringContaining("TF_TOKEN_")],
        requestId: answer.headers["x-request-id"],
      });
      const head = await scene.mirror.get(path, { method: "HEAD" });
      expect(head.status).toBe(401);
      expect(scene.registry.requests.count()).toBe(0);
    },
  );

  it.each(["/healthz", "/readyz", "/.well-known/terraform.json"])(
    "%s is open",
    async (path) => {
      expect(await statusOf({}, path)).toBe(200);
    },
  );
});

/** The check that comes first answers a request with two faults. */
it.each([
  ["its method before its token", "PUT", "/x", "405 method-not-allowed"],
  ["its raw path before its token", "GET", "/%41/x", "400 malformed-request"],
  [
    "its length before its method",
    ...["PUT", `/${"x".repeat(5_000)}`, "414 uri-too-long"],
  ],
] as const)(
  "of a request, %s is looked at",
  async (_, method, path, wanted) => {
    expect(outcomeOf(await scene.mirror.get(path, { method }))).toBe(wanted);
  },
);

describe("a token", () => {
  it("opens all of the mirror, and has an address looked at before its origin", async () => {
    for (const path of ["/", "/browse", "/decisions", "/metrics", index])
      expect((await scene.withToken(path)).status, path).toBe(200);
    const archive = await scene.withToken(folder + fileOf("1.0.0"));
    const { bytes } = scene.release.archive("linux_amd64");
    expect(archive.body.equals(bytes)).toBe(true);
    expect(await statusFor(young.token)).toBe(200);
    const bad = await scene.withToken(
      "/providers/other.example/A/b/index.json",
    );
    expect(outcomeOf(bad)).toBe("400 malformed-address");
  });

  it.each([
    ["is not known", stranger],
    ["has expired", old],
  ])("is refused when it %s", async (_, { token }) => {
    const answer = await scene.mirror.get(index, bearer(token));
    expect(outcomeOf(answer)).toBe("401 token-refused");
    expect(answer.headers["www-authenticate"]).toMatch(/^Bearer error="/);
    expect(answer.body.toString()).not.toContain(token);
  });

  it.each([
    "",
    "Bearer",
    "Bearer ",
    `Basic ${Buffer.from(`ci:${ci.token}`).toString("base64")}`,
    `Token ${ci.token}`,
    `Bearer ${ci.configured.sha256}`,
    `Bearer ${ci.token} ${ci.token}`,
    `Bearer ${ci.token.slice(0, -1)}`,
    `Bearer ${ci.token}x`,
    `Bearer ${ci.token.toUpperCase()}`,
    ci.token,
    `Bearer ${"x".repeat(12_000)}`,
  ])("is not what %j sends", async (authorization) => {
    expect(await statusOf({ authorization })).toBe(401);
  });

  it("is not taken from a query or another header", async () => {
    const query = `?access_token=${ci.token}&token=${ci.token}`;
    expect(await statusOf({}, index + query)).toBe(401);
    const headers = { "x-token": ci.token, cookie: `token=${ci.token}` };
    expect(await statusOf(headers)).toBe(401);
  });

  it("is named in the log and in the audit log, and written nowhere", async () => {
    const answer = await scene.withToken(folder + fileOf("1.0.0"));
    expect((await awaitLineOf(scene.mirror, answer)).token).toBe("ci runner");
    const isServed = ({ event = "" }) => event === "served";
    const served = await awaitAudit(scene.mirror, isServed);
    expect(served.at(-1)).toMatchObject({ token: "ci runner" });
    const written =
      JSON.stringify(scene.mirror.log) +
      JSON.stringify(readAudit(scene.mirror)) +
      (await scene.withToken("/metrics")).body.toString();
    for (const { token } of [ci, old, young, stranger])
      expect(written).not.toContain(token);
  });

  it("never goes to the origin", async () => {
    scene.registry.requests.clear();
    const gadget = `/providers/${host}/acme/gadget/`;
    await scene.withToken(`${gadget}1.0.0.json`);
    const archive = fileOf("1.0.0").replace("widget", "gadget");
    await scene.withToken(gadget + archive);
    const sent = scene.registry.requests.list().map(({ headers }) => headers);
    expect(sent.length).toBeGreaterThan(3);
    expect(JSON.stringify(sent)).not.toMatch(/authorization/i);
  });
});

describe("on SIGHUP", () => {
  const metrics = async () =>
    (await scene.withToken("/metrics")).body.toString();

  it("a token that is added works, and one that is left out does not", async () => {
    const added = issueToken("added");
    const both = async () => [
      await statusFor(added.token),
      await statusFor(ci.token),
    ];
    await scene.reload({ auth: { tokens: [added.configured] } });
    expect(await both()).toEqual([200, 401]);
    await scene.reload({ auth });
    expect(await both()).toEqual([401, 200]);
    expect(await statusOf({}, "/metrics")).toBe(401);
  });

  it.each([
    ["an empty list", { tokens: [] }],
    ["no list", { tokens: null }],
  ])("%s of tokens keeps those in use", async (_, changed) => {
    const before = scene.mirror.log.length;
    await scene.reload({ auth: changed });
    const failures = scene.mirror.log
      .slice(before)
      .filter(({ msg }) => msg === "the configuration in use is kept");
    expect(failures.map(({ error }) => error)).toEqual([
      expect.stringMatching(/"auth\.tokens" is empty: .*auth: off/),
    ]);
    expect(await statusOf()).toBe(401);
    const text = await metrics();
    expect(text).toContain("provender_config_last_reload_successful 0\n");
    expect(text).toMatch(
      /provender_config_reloads_total\{result="failed"\} [1-9]/,
    );
  });

  it("names changed keys that wait for the next start, and says when all are in use again", async () => {
    const before = scene.mirror.log.length;
    await scene.reload({ auth, limits: { archive: "1GiB" }, offline: true });
    const names = ({ keys }: { readonly keys?: unknown }) => keys !== undefined;
    const { keys } = await awaitLine(scene.mirror, names, before);
    expect(keys).toEqual(["offline", "limits"]);
    await scene.reload({ auth, limits: {}, offline: false });
    const text = await metrics();
    expect(text).toContain("provender_config_last_reload_successful 1\n");
  });

  it("lets everybody ask when authentication is turned off in so many words", async () => {
    await scene.reload({ auth: "off" });
    expect(await statusOf()).toBe(200);
    const document = (await scene.mirror.get(`${folder}1.0.0.json`)).json();
    expect(document).toMatchObject({
      archives: { linux_amd64: { url: fileOf("1.0.0") } },
    });
    expect(scene.mirror.log.map(({ msg }) => msg)).toContain(
      "authentication is off now: anybody may ask",
    );
  });
});
