import { X509Certificate } from "node:crypto";
import { cpSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { issueToken } from "../../client-token.ts";
import { scratch, startMirror } from "../../running-mirror.ts";
import { eventually } from "../../scenes/provider-requests.ts";
import { startWorld } from "../../scenes/world.ts";

const { registry, mirror } = await startWorld();
await registry.publish({ type: "demo", version: "1.2.3" });

describe("the page for people", () => {
  it("shows the block for clients that was printed at the start and the fingerprint of the authority, runs nothing, and shows no path of this machine", async () => {
    const { headers, body } = await mirror.get("/");
    for (const part of ["SSL_CERT_FILE", mirror.caFile, mirror.url])
      expect(mirror.printed).toContain(part);
    const [, block = ""] = mirror.printed.split(/^(?=host )/m);
    const page = body.toString();
    expect(page).toContain(block.split("\n#")[0]?.replaceAll('"', "&quot;"));
    expect(page.indexOf("providers.v1")).toBeLessThan(
      page.indexOf("network_mirror"),
    );
    const authority = (await mirror.get("/ca.pem")).body;
    expect(authority.toString()).toBe(readFileSync(mirror.caFile, "utf8"));
    expect(page).toContain(new X509Certificate(authority).fingerprint256);
    expect(page).not.toContain(mirror.directory);
    expect(page).not.toMatch(/<script|<form|(?:src|href)="[/a-z]*:|\son\w+="/);
    expect(headers).toMatchObject({
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": expect.stringMatching(
        /^default-src 'none'; style-src 'sha256-[^']+';.*frame-ancestors 'none'/,
      ) as string,
      "x-content-type-options": "nosniff",
      "cache-control": "no-store",
      "referrer-policy": "no-referrer",
    });
  });

  it("leads from what is held to what clients get of each version", async () => {
    const name = "registry.terraform.io/acme/demo";
    await mirror.get(`/providers/${name}/1.2.3.json`);
    const shown = async (path: string) =>
      (await mirror.get(path)).body.toString();
    const held = await eventually(
      () => shown("/browse?page=9"),
      (text) => text.includes(name),
    );
    const [, to = ""] = /href="(browse\?provider=[^"]*)"/.exec(held) ?? [];
    expect(await shown(`/${to}`)).toContain(`href="why/${name}/1.2.3"`);
    expect(await shown("/browse?q=nothing")).toContain("Nothing that is held");
    expect(await shown(`/browse?provider=${name}x`)).toContain(
      "Nothing of it is held",
    );
    for (const kind of ["provider", "module"])
      expect((await mirror.get(`/browse?${kind}=a`)).status).toBe(400);
  });

  it("is for everybody where tokens are needed, without what is kept, and names the address that the operator gave", async () => {
    const { configured } = issueToken("ci");
    const publicUrl = "https://cache.example.com/tools/";
    const own = await startMirror({
      config: { publicUrl, auth: { tokens: [configured] } },
    });
    const page = await own.get("/");
    const text = page.body.toString();
    expect(text).toContain("YOUR_TOKEN");
    expect(text).not.toMatch(/ci\b(?!\.)/);
    expect(text).toContain(`${publicUrl}providers/`);
    expect(text).toContain(`${publicUrl}ca.pem`);
    expect((await own.get("/ca.pem")).status).toBe(200);
  });

  it("has no authority where a proxy has a certificate, and says that the policy only reports", async () => {
    const copy = scratch("copy");
    cpSync(mirror.directory, copy, { recursive: true });
    const policy = { mode: "report", default: "deny" };
    const listen = { port: 0, tls: "off" };
    const config = { policy, listen, offline: true };
    const own = await startMirror({ config, directory: copy });
    expect((await own.get("/ca.pem")).status).toBe(404);
    const text = (await own.get("/")).body.toString();
    expect(text).not.toMatch(/SSL_CERT_FILE|ca\.pem/);
    const headers = { host: 'a"><b>.example.com' };
    const { body } = await own.get("/", { headers });
    expect(body.toString()).not.toMatch(/<b>|b&gt;\.example/);
    const path = "/why/registry.terraform.io/acme/demo";
    const why = (await own.get(path)).body.toString();
    expect(why).toContain("The policy only reports");
  });
});
