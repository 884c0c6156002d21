import { t as _plugin_vue_export_helper_default } from "./plugin-vue_export-helper.DjkACiAr.js";
import { useSSRContext } from "vue";
import { ssrRenderAttrs } from "vue/server-renderer";
// .cache/guide/support.md
var __pageData = JSON.parse("{\"title\":\"Support\",\"description\":\"\",\"frontmatter\":{},\"headers\":[],\"relativePath\":\"support.md\",\"filePath\":\"support.md\"}");
var _sfc_main = { name: "support.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
	_push(`<div${ssrRenderAttrs(_attrs)}><h1 id="support" tabindex="-1">Support <a class="header-anchor" href="#support" aria-label="Permalink to “Support”">&amp;#8203;</a></h1><table tabindex="0"><thead><tr><th>you have</th><th>go to</th></tr></thead><tbody><tr><td>a question about use</td><td>the <a href="./">documentation</a>, then the repository&#39;s discussions</td></tr><tr><td>a verdict that seems wrong</td><td><a href="./verdicts">what the reasons mean</a>, then an issue of the kind &quot;Wrong verdict&quot;</td></tr><tr><td>a service that does not work</td><td><code>npx mailvet doctor</code> (<a href="./doctor">what it checks</a>), then an issue of the kind &quot;Bug&quot;</td></tr><tr><td>an idea</td><td>an issue of the kind &quot;Idea&quot;</td></tr><tr><td>a vulnerability</td><td><a href="./security">SECURITY.md</a>; not an issue</td></tr></tbody></table><p>Support comes from volunteers, without promised times.</p><h2 id="what-is-supported" tabindex="-1">What is supported <a class="header-anchor" href="#what-is-supported" aria-label="Permalink to “What is supported”">&amp;#8203;</a></h2><ul><li>The latest release. Fixes, those of security included, are not ported to earlier versions.</li><li><code>mailvet</code> runs on Node 24.7 or newer. On Linux with glibc and on Windows it brings one along; on macOS and Alpine, install Node 24 first. The tests run on Debian. The libraries run on Node 20.19 and newer.</li><li>PostgreSQL 13 or newer, or SQLite, which is built in.</li><li>Upgrades from any earlier version; nodes may be replaced one after the other where <a href="./upgrading"><code>migrate --check</code></a> says so.</li></ul></div>`);
}
var _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
	const ssrContext = useSSRContext();
	(ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("support.md");
	return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
var support_default = /*#__PURE__*/ _plugin_vue_export_helper_default(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export { __pageData, support_default as default };
