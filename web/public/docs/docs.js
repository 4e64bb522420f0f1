// Shows /openapi.json of this server, and asks no other server for anything: no validator, no example from elsewhere.
/* global SwaggerUIBundle */
const chosen = document.documentElement.dataset.theme;
const dark = chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
document.documentElement.classList.toggle("dark-mode", dark);

SwaggerUIBundle({
  dom_id: "#docs",
  url: "openapi.json",
  validatorUrl: null,
  docExpansion: "list",
  defaultModelsExpandDepth: -1,
});
