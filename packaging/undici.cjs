"use strict";
// What the program uses of undici, without fetch, caches, mocks and interceptors,
// which undici's own index loads at once and which take megabytes.
const Dispatcher = require("undici/lib/dispatcher/dispatcher.js");
Object.assign(Dispatcher.prototype, require("undici/lib/api"));

exports.Agent = require("undici/lib/dispatcher/agent.js");
exports.EnvHttpProxyAgent = require("undici/lib/dispatcher/env-http-proxy-agent.js");

exports.request = (url, { dispatcher, ...options }) =>
  dispatcher.request({
    method: "GET",
    ...options,
    origin: url.origin,
    path: url.pathname + url.search,
  });
