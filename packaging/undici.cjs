"use strict";
// Parts of undici that the program uses. The package's own index also loads
// fetch, caches, mocks and interceptors, which take megabytes.
const Dispatcher = require("undici/lib/dispatcher/dispatcher.js");
Object.assign(Dispatcher.prototype, require("undici/lib/api"));

exports.buildConnector = require("undici/lib/core/connect.js");
exports.errors = require("undici/lib/core/errors.js");
exports.Agent = require("undici/lib/dispatcher/agent.js");
exports.EnvHttpProxyAgent = require("undici/lib/dispatcher/env-http-proxy-agent.js");

exports.request = (url, { dispatcher, ...options }) =>
  dispatcher.request({
    method: "GET",
    ...options,
    origin: url.origin,
    path: url.pathname + url.search,
  });
