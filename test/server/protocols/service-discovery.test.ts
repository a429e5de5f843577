import { describe, expect, it } from "vitest";
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
});
