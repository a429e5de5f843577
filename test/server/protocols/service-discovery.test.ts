import { describe, expect, it } from "vitest";
import { issueToken } from "../../client-token.ts";
import { startMirror } from "../../running-mirror.ts";

const document = "/.well-known/terraform.json";

describe("the mirror's own service discovery", () => {
  it("names the services of the first origin with exactly application/json", async () => {
    const origins = { "b.example": {}, "a.example": {} };
    const mirror = await startMirror({ config: { origins } });
    try {
      const got = await mirror.get(document);
      const head = await mirror.get(document, { method: "HEAD" });
      expect(got.headers["content-type"]).toBe("application/json");
      expect(got.json()).toEqual({
        "providers.v1": `${mirror.url}v1/providers/b.example/`,
        "modules.v1": `${mirror.url}v1/modules/b.example/`,
      });
      expect([head.status, head.body.length]).toEqual([200, 0]);
      expect(head.headers["content-type"]).toBe("application/json");
    } finally {
      await mirror.stop();
    }
  });

  it("offers no registry where there is no origin", async () => {
    const mirror = await startMirror({ config: { origins: {} } });
    try {
      expect((await mirror.get(document)).json()).toEqual({});
    } finally {
      await mirror.stop();
    }
  });

  it("names the services of each origin below a path of it, to everybody", async () => {
    const { configured } = issueToken("ci");
    const host = "registry.terraform.io";
    const config = { auth: { tokens: [configured] } };
    const mirror = await startMirror({ config });
    try {
      const path = `/registry/${host}/.well-known/terraform.json`;
      const answer = await mirror.get(path);
      expect(answer.headers["content-type"]).toBe("application/json");
      expect(answer.json()).toEqual({
        "providers.v1": `${mirror.url}registry/${host}/v1/providers/`,
        "modules.v1": `${mirror.url}registry/${host}/v1/modules/`,
      });
      const headers = { via: "1.1 proxy" };
      const relative = (await mirror.get(path, { headers })).json();
      const { "modules.v1": modules } = relative as Record<string, string>;
      const proxied = `https://proxy.example.com/tools${path}`;
      expect(new URL(String(modules), proxied).href).toBe(
        `https://proxy.example.com/tools/registry/${host}/v1/modules/`,
      );
      const bad = await mirror.get("/registry/a_b/.well-known/terraform.json");
      expect(bad.status).toBe(400);
    } finally {
      await mirror.stop();
    }
  });
});
