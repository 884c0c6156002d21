import { t as _plugin_vue_export_helper_default } from "./plugin-vue_export-helper.DjkACiAr.js";
import { useSSRContext } from "vue";
import { ssrRenderAttrs } from "vue/server-renderer";
// .cache/guide/licenses.md
var __pageData = JSON.parse("{\"title\":\"Licenses\",\"description\":\"\",\"frontmatter\":{},\"headers\":[],\"relativePath\":\"licenses.md\",\"filePath\":\"licenses.md\"}");
var _sfc_main = { name: "licenses.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
	_push(`<div${ssrRenderAttrs(_attrs)}><h1 id="licenses" tabindex="-1">Licenses <a class="header-anchor" href="#licenses" aria-label="Permalink to “Licenses”">&amp;#8203;</a></h1><table tabindex="0"><thead><tr><th>what</th><th>license</th><th>where it is</th></tr></thead><tbody><tr><td>Mailvet&#39;s code and documentation</td><td>Apache-2.0</td><td><code>LICENSE</code> and <code>NOTICE</code> at the root of the repository and in every package</td></tr><tr><td>lists and rules in <code>data/</code></td><td>those of their sources, each with its date</td><td><a href="./data-sources">Data sources</a>, <code>data/SOURCES.md</code></td></tr><tr><td>packages bundled into the service</td><td>their own, all listed with their texts</td><td><code>dist/THIRD-PARTY-LICENSES.txt</code>, made by the build</td></tr><tr><td>fonts and icons of the dashboard</td><td>their own</td><td><code>/assets/licenses.txt</code> of the service, <code>web/public/assets/licenses.txt</code> in the repository</td></tr></tbody></table><p>Apache-2.0 lets you use, change and sell Mailvet, alone or in a product, without publishing your own code; keep the notices. Contributions come under the same license.</p><h2 id="bill-of-materials" tabindex="-1">Bill of materials <a class="header-anchor" href="#bill-of-materials" aria-label="Permalink to “Bill of materials”">&amp;#8203;</a></h2><div class="language-sh"><button title="Copy code" data-copied="Copied" class="copy"></button><span class="lang">sh</span><pre class="shiki shiki-themes github-light github-dark" style="--shiki-light:#24292e;--shiki-dark:#e1e4e8;--shiki-light-bg:#fff;--shiki-dark-bg:#24292e;" tabindex="0" dir="ltr"><code><span class="line"><span style="--shiki-light:#6F42C1;--shiki-dark:#B392F0;">npm</span><span style="--shiki-light:#032F62;--shiki-dark:#9ECBFF;"> run</span><span style="--shiki-light:#005CC5;--shiki-dark:#79B8FF;"> -s</span><span style="--shiki-light:#032F62;--shiki-dark:#9ECBFF;"> sbom</span><span style="--shiki-light:#c62739;--shiki-dark:#F97583;"> &gt;</span><span style="--shiki-light:#032F62;--shiki-dark:#9ECBFF;"> sbom.json</span></span></code></pre></div><p>writes a CycloneDX document of the lockfile: every package that a clone may install, with version, license and SHA-512. <a href="./security#dependencies">Security</a> says what it covers and what it does not. The files of a release include one.</p></div>`);
}
var _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
	const ssrContext = useSSRContext();
	(ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("licenses.md");
	return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
var licenses_default = /*#__PURE__*/ _plugin_vue_export_helper_default(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export { __pageData, licenses_default as default };
