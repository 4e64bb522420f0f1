// Shows /openapi.json of this server and contacts no other: no validator, no external examples.
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
