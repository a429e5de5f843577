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

const scene = await startAuthenticationScene();

describe("without a token", () => {
  it.each([
    "/browse",
    "/metrics",
    "/nothing",
    "/v1/providers/registry.terraform.io/acme/widget/versions",
    "/v1/modules/registry.terraform.io/acme/net/aws/versions",
    "/v1/modules/registry.terraform.io/acme/net/aws/1.0.0/archive.tar.gz",
    `${folder}index.json`,
    `${folder}1.0.0.json`,
    folder + fileOf("1.0.0"),
    "/providers/other.example.com/acme/widget/index.json",
  ])(
    "%s is refused with 401 and a remedy, without a request to the origin",
    async (path) => {
      scene.registry.requests.clear();
      const answer = await scene.mirror.get(path);
      expect(outcomeOf(answer)).toBe("401 token-needed");
      expect(answer.headers["www-authenticate"]).toBe("Bearer");
      expect(answer.headers["content-type"]).toBe("application/json");
      expect(answer.headers["cache-control"]).toBe("no-store");
      const { errors, requestId } = answer.json() as {
        errors: string[];
        requestId: string;
      };
      expect(errors).toEqual([expect.stringContaining("TF_TOKEN_")]);
      expect(requestId).toBe(answer.headers["x-request-id"]);
      expect(scene.registry.requests.count()).toBe(0);
    },
  );

  it.each(["/healthz", "/readyz", "/.well-known/terraform.json"])(
    "%s is open",
    async (path) => {
      expect((await scene.mirror.get(path)).status).toBe(200);
    },
  );

  it("a HEAD request is refused as well", async () => {
    const path = folder + fileOf("1.0.0");
    const answer = await scene.mirror.get(path, { method: "HEAD" });
    expect(answer.status).toBe(401);
  });
});

/** The check that comes first answers a request with two faults. */
describe("of what is wrong with a request", () => {
  it.each<[string, string, () => Promise<string>]>([
    [
      "its method before its token",
      "405 method-not-allowed",
      async () => outcomeOf(await scene.mirror.get("/x", { method: "PUT" })),
    ],
    [
      "its raw path before its token",
      "400 malformed-request",
      async () => outcomeOf(await scene.mirror.get("/%41/x")),
    ],
    [
      "its length before its method",
      "414 uri-too-long",
      async () =>
        outcomeOf(
          await scene.mirror.get(`/${"x".repeat(5_000)}`, { method: "PUT" }),
        ),
    ],
    [
      "its token before whether there is such a page",
      "401 token-needed",
      async () => outcomeOf(await scene.mirror.get("/nothing")),
    ],
    [
      "its address before its origin",
      "400 malformed-address",
      async () =>
        outcomeOf(
          await scene.withToken("/providers/other.example/A/b/index.json"),
        ),
    ],
  ])("%s", async (_, wanted, ask) => {
    expect(await ask()).toBe(wanted);
  });
});

describe("a token", () => {
  it("opens all of the mirror", async () => {
    const pages = ["/", "/browse", "/decisions"];
    const paths = [...pages, "/metrics", `${folder}index.json`];
    for (const path of paths)
      expect((await scene.withToken(path)).status, path).toBe(200);
    const archive = await scene.withToken(folder + fileOf("1.0.0"));
    expect(
      archive.body.equals(scene.release.archive("linux_amd64").bytes),
    ).toBe(true);
    const late = await scene.mirror.get(
      `${folder}index.json`,
      bearer(young.token),
    );
    expect(late.status).toBe(200);
  });

  it("is refused when it is unknown, and when it has expired", async () => {
    for (const { token } of [stranger, old]) {
      const answer = await scene.mirror.get(
        `${folder}index.json`,
        bearer(token),
      );
      expect(outcomeOf(answer)).toBe("401 token-refused");
      expect(answer.headers["www-authenticate"]).toMatch(/^Bearer error="/);
      expect(answer.body.toString()).not.toContain(token);
    }
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
    const answer = await scene.mirror.get(`${folder}index.json`, {
      headers: { authorization },
    });
    expect(answer.status).toBe(401);
  });

  it("is not taken from a query or another header", async () => {
    const query = `?access_token=${ci.token}&token=${ci.token}`;
    expect((await scene.mirror.get(`${folder}index.json${query}`)).status).toBe(
      401,
    );
    const headers = { "x-token": ci.token, cookie: `token=${ci.token}` };
    const answer = await scene.mirror.get(`${folder}index.json`, { headers });
    expect(answer.status).toBe(401);
  });

  it("is named in the log and in the audit log, and written nowhere", async () => {
    const answer = await scene.withToken(folder + fileOf("1.0.0"));
    expect((await awaitLineOf(scene.mirror, answer)).token).toBe("ci runner");
    const served = await awaitAudit(
      scene.mirror,
      ({ event }) => event === "served",
    );
    expect(served.at(-1)).toMatchObject({
      event: "served",
      token: "ci runner",
    });
    const written =
      JSON.stringify(scene.mirror.log) +
      JSON.stringify(readAudit(scene.mirror)) +
      (await scene.withToken("/metrics")).body.toString();
    for (const { token } of [ci, old, young, stranger])
      expect(written).not.toContain(token);
  });

  it("never goes to the origin", async () => {
    scene.registry.requests.clear();
    await scene.withToken(`/providers/${host}/acme/gadget/1.0.0.json`);
    const name = "terraform-provider-gadget_1.0.0_linux_amd64.zip";
    await scene.withToken(`/providers/${host}/acme/gadget/${name}`);
    const sent = scene.registry.requests.list().map(({ headers }) => headers);
    expect(sent.length).toBeGreaterThan(3);
    expect(JSON.stringify(sent)).not.toMatch(/authorization/i);
  });
});

describe("on SIGHUP", () => {
  it("a token that is added works, and one that is left out does not", async () => {
    const added = issueToken("added");
    const index = `${folder}index.json`;
    await scene.reload({ auth: { tokens: [added.configured] } });
    expect((await scene.mirror.get(index, bearer(added.token))).status).toBe(
      200,
    );
    expect((await scene.withToken(index)).status).toBe(401);
    await scene.reload({ auth });
    expect((await scene.mirror.get(index, bearer(added.token))).status).toBe(
      401,
    );
    expect((await scene.withToken(index)).status).toBe(200);
    expect((await scene.mirror.get("/metrics")).status).toBe(401);
  });

  const failures = () =>
    scene.mirror.log.filter(
      ({ msg }) => msg === "the configuration in use is kept",
    );
  const withoutToken = async () =>
    (await scene.mirror.get(`${folder}index.json`)).status;

  it.each([
    ["an empty list", { tokens: [] }],
    ["no list", { tokens: null }],
  ])("%s of tokens keeps those in use", async (_, changed) => {
    const before = failures().length;
    await scene.reload({ auth: changed });
    expect(failures().length).toBe(before + 1);
    expect(failures().at(-1)?.error).toMatch(
      /"auth\.tokens" is empty: .*auth: off/,
    );
    expect(await withoutToken()).toBe(401);
    const { body } = await scene.withToken("/metrics");
    expect(body.toString()).toContain(
      "provender_config_last_reload_successful 0\n",
    );
    expect(body.toString()).toMatch(
      /provender_config_reloads_total\{result="failed"\} [1-9]/,
    );
  });

  it("names changed keys that wait for the next start, and says when all are in use again", async () => {
    const before = scene.mirror.log.length;
    await scene.reload({ auth, limits: { archive: "1GiB" }, offline: true });
    const line = await awaitLine(
      scene.mirror,
      ({ keys }) => keys !== undefined,
      before,
    );
    expect(line.keys).toEqual(["offline", "limits"]);
    await scene.reload({ auth, limits: {}, offline: false });
    const { body } = await scene.withToken("/metrics");
    expect(body.toString()).toContain(
      "provender_config_last_reload_successful 1\n",
    );
  });

  it("lets everybody ask when authentication is turned off in so many words", async () => {
    await scene.reload({ auth: "off" });
    expect(await withoutToken()).toBe(200);
    const { archives } = (
      await scene.mirror.get(`${folder}1.0.0.json`)
    ).json() as { archives: Record<string, { url: string }> };
    expect(archives.linux_amd64?.url).toBe(fileOf("1.0.0"));
    expect(scene.mirror.log).toContainEqual(
      expect.objectContaining({
        msg: "authentication is off now: anybody may ask",
      }),
    );
  });
});
