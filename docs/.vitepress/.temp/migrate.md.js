import { t as _plugin_vue_export_helper_default } from "./plugin-vue_export-helper.DjkACiAr.js";
import { useSSRContext } from "vue";
import { ssrRenderAttrs } from "vue/server-renderer";
// .cache/guide/migrate.md
var __pageData = JSON.parse("{\"title\":\"Coming from another service\",\"description\":\"\",\"frontmatter\":{},\"headers\":[],\"relativePath\":\"migrate.md\",\"filePath\":\"migrate.md\"}");
var _sfc_main = { name: "migrate.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
	_push(`<div${ssrRenderAttrs(_attrs)}><h1 id="coming-from-another-service" tabindex="-1">Coming from another service <a class="header-anchor" href="#coming-from-another-service" aria-label="Permalink to “Coming from another service”">&amp;#8203;</a></h1><p>Clients of these services need only another base URL and a Mailvet key; they get replies in the form that they expect.</p><table tabindex="0"><thead><tr><th>from</th><th>base URL</th></tr></thead><tbody><tr><td><a href="./migrate-reacher">Reacher</a></td><td><code>/compat/reacher</code></td></tr><tr><td><a href="./migrate-kickbox">Kickbox</a></td><td><code>/compat/kickbox</code></td></tr><tr><td><a href="./migrate-zerobounce">ZeroBounce</a></td><td><code>/compat/zerobounce/v2</code></td></tr><tr><td><a href="./migrate-neverbounce">NeverBounce</a></td><td><code>/compat/neverbounce</code></td></tr><tr><td><a href="./migrate-emailable">Emailable</a></td><td><code>/compat/emailable/v1</code></td></tr><tr><td>truemail.app</td><td><code>/</code>: the <a href="./api">API</a> has the same paths, fields and errors, so only host and key change; Mailvet&#39;s replies have further fields</td></tr></tbody></table><p><code>MAILVET_COMPAT=neverbounce,…</code> serves the paths of these services at the root as well, for clients that take only a host.</p><p>The <a href="./dashboard#verify-and-log">log</a> lists calls by them under a separate origin, so you can see who has yet to move.</p><p>These contracts are meant for moving. Mailvet&#39;s own <a href="./api">API</a> tells you more: reasons, checks, evidence, suggestions, prices.</p></div>`);
}
var _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
	const ssrContext = useSSRContext();
	(ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("migrate.md");
	return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
var migrate_default = /*#__PURE__*/ _plugin_vue_export_helper_default(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export { __pageData, migrate_default as default };
