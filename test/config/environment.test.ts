import { describe, expect, it } from "vitest";
import { findHostToken } from "../../src/config/environment.ts";
import { load, refusal } from "./written.ts";

describe("the environment", () => {
  const XDG_CACHE_HOME = "/cache";

  it.each<[string, NodeJS.ProcessEnv, string?]>([
    ["/state", { STATE_DIRECTORY: "/state:/other", XDG_CACHE_HOME }],
    ["/cache/provender", { STATE_DIRECTORY: "", XDG_CACHE_HOME }],
    ["/home/someone/.cache/provender", { XDG_CACHE_HOME: "relative" }],
    ["/data", { XDG_CACHE_HOME }, "storage: { directory: /data }"],
  ])("gives the storage directory %s: %j", (directory, env, written = "") => {
    expect(load(written, env).storage.directory).toBe(directory);
  });

  it("gives the proxy, upper case first, also without a scheme", () => {
    const lower = { https_proxy: "two:2", no_proxy: ".internal" };
    const one = load("", { HTTPS_PROXY: "http://one:1", ...lower }).proxy;
    expect([one.https?.href, one.no]).toEqual(["http://one:1/", ".internal"]);
    const two = load("", { HTTPS_PROXY: "", ...lower }).proxy;
    expect(two.https?.href).toBe("http://two:2/");
  });

  it("with a bad proxy is refused by the variable's name, without its value", () => {
    for (const https_proxy of ["socks5://user:pass@host:1", "http://"]) {
      const message = refusal("", { https_proxy });
      expect(message).toContain("https_proxy: this is not a proxy");
      expect(message).not.toContain("pass");
    }
  });

  it("gives the service manager's socket and watchdog", () => {
    const notify = (NOTIFY_SOCKET: string, WATCHDOG_USEC: string) =>
      load("", { NOTIFY_SOCKET, WATCHDOG_USEC }).notify;
    const [socket, watchdogMs] = ["/run/notify", 30_000];
    expect(notify(socket, "30000000")).toEqual({ socket, watchdogMs });
    expect(notify("", "soon")).toEqual({});
  });
});

describe("the token of a host", () => {
  const at = (host: string, env: NodeJS.ProcessEnv) =>
    findHostToken(new URL(`https://${host}/providers/`), env);

  it.each([
    ["mirror.example.com", "TF_TOKEN_mirror_example_com"],
    ["mirror.example.com", "TF_TOKEN_MIRROR_EXAMPLE_COM"],
    ["my-mirror.example.com", "TF_TOKEN_my__mirror_example_com"],
    ["mirror.example.com:8443", "TF_TOKEN_mirror_example_com:8443"],
    ["xn--caf-dma.fr", "TF_TOKEN_xn____caf__dma_fr"],
    ["xn--caf-dma.fr", "TF_TOKEN_café_fr"],
  ])("%s is in %s, as the clients name it", (host, name) => {
    expect(at(host, { [name]: "secret" })).toBe("secret");
  });

  it("is not that of another host or port", () => {
    const env = { TF_TOKEN_mirror_example_com: "secret", TF_TOKEN_: "empty" };
    expect(at("example.com", env)).toBeUndefined();
    expect(at("a.mirror.example.com", env)).toBeUndefined();
    expect(at("mirror.example.com:8443", env)).toBeUndefined();
  });
});
