import { describe, expect, it } from "vitest";
import { findHostToken } from "../../src/config/environment.ts";
import { load, refusal } from "./written.ts";

describe("the environment", () => {
  const at = (env: NodeJS.ProcessEnv) => load("", env).storage.directory;

  it("gives the storage directory: state before cache before home", () => {
    const XDG_CACHE_HOME = "/cache";
    expect(at({ STATE_DIRECTORY: "/state:/other", XDG_CACHE_HOME })).toBe(
      "/state",
    );
    expect(at({ STATE_DIRECTORY: "", XDG_CACHE_HOME })).toBe(
      "/cache/provender",
    );
    expect(at({ XDG_CACHE_HOME: "relative" })).toBe(
      "/home/someone/.cache/provender",
    );
    const written = load("storage: { directory: /data }", { XDG_CACHE_HOME });
    expect(written.storage.directory).toBe("/data");
  });

  it("gives the proxy, upper case first, also without a scheme", () => {
    const upper = { HTTPS_PROXY: "http://one:1", https_proxy: "http://two:2" };
    expect(load("", upper).proxy.https?.href).toBe("http://one:1/");
    const lower = {
      HTTPS_PROXY: "",
      https_proxy: "two:2",
      no_proxy: ".internal",
    };
    expect(load("", lower).proxy.https?.href).toBe("http://two:2/");
    expect(load("", lower).proxy.no).toBe(".internal");
  });

  it("with a bad proxy is refused by the variable's name, without its value", () => {
    for (const https_proxy of ["socks5://user:pass@host:1", "http://"]) {
      const message = refusal("", { https_proxy });
      expect(message).toContain("https_proxy: this is not a proxy");
      expect(message).not.toContain("pass");
    }
  });

  it("gives the service manager's socket and watchdog", () => {
    const env = { NOTIFY_SOCKET: "/run/notify", WATCHDOG_USEC: "30000000" };
    expect(load("", env).notify).toEqual({
      socket: "/run/notify",
      watchdogMs: 30_000,
    });
    const other = { NOTIFY_SOCKET: "", WATCHDOG_USEC: "soon" };
    expect(load("", other).notify).toEqual({
      socket: undefined,
      watchdogMs: undefined,
    });
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
