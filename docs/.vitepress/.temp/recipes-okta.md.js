import { t as _plugin_vue_export_helper_default } from "./plugin-vue_export-helper.DjkACiAr.js";
import { useSSRContext } from "vue";
import { ssrRenderAttrs } from "vue/server-renderer";
// .cache/guide/recipes-okta.md
var __pageData = JSON.parse("{\"title\":\"Signing in with Okta\",\"description\":\"\",\"frontmatter\":{},\"headers\":[],\"relativePath\":\"recipes-okta.md\",\"filePath\":\"recipes-okta.md\"}");
var _sfc_main = { name: "recipes-okta.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
	_push(`<div${ssrRenderAttrs(_attrs)}><h1 id="signing-in-with-okta" tabindex="-1">Signing in with Okta <a class="header-anchor" href="#signing-in-with-okta" aria-label="Permalink to “Signing in with Okta”">&amp;#8203;</a></h1><p>People who are assigned to an application sign in to the dashboard; their groups decide what they may do. <a href="./oidc">OpenID Connect</a> explains each option.</p><ol><li><em>Applications</em>, <em>Create App Integration</em>: OIDC, <em>Web Application</em>, grant type <em>Authorization Code</em>. Sign-in redirect URI: <code>https://mailvet.example.com/sign-in/oidc</code>.</li><li><em>Assignments</em>: the people or groups who should get in.</li><li><em>Sign On</em>, <em>OpenID Connect ID Token</em>: <em>Groups claim type</em> <code>Filter</code>, claim <code>groups</code>, <em>Starts with</em> <code>mailvet-</code>.</li><li><em>General</em>: copy client ID and client secret.</li></ol><div class="language-ini"><button title="Copy code" data-copied="Copied" class="copy"></button><span class="lang">ini</span><pre class="shiki shiki-themes github-light github-dark" style="--shiki-light:#24292e;--shiki-dark:#e1e4e8;--shiki-light-bg:#fff;--shiki-dark-bg:#24292e;" tabindex="0" dir="ltr"><code><span class="line"><span style="--shiki-light:#c62739;--shiki-dark:#F97583;">MAILVET_OIDC_ISSUER</span><span style="--shiki-light:#24292E;--shiki-dark:#E1E4E8;">=https://example.okta.com</span></span>
<span class="line"><span style="--shiki-light:#c62739;--shiki-dark:#F97583;">MAILVET_OIDC_CLIENT_ID</span><span style="--shiki-light:#24292E;--shiki-dark:#E1E4E8;">=0oa1b2c3d4e5f6g7h8i9</span></span>
<span class="line"><span style="--shiki-light:#c62739;--shiki-dark:#F97583;">MAILVET_OIDC_CLIENT_SECRET_FILE</span><span style="--shiki-light:#24292E;--shiki-dark:#E1E4E8;">=/etc/mailvet/oidc-secret</span></span>
<span class="line"><span style="--shiki-light:#c62739;--shiki-dark:#F97583;">MAILVET_OIDC_NAME</span><span style="--shiki-light:#24292E;--shiki-dark:#E1E4E8;">=Okta</span></span>
<span class="line"><span style="--shiki-light:#c62739;--shiki-dark:#F97583;">MAILVET_OIDC_SCOPES</span><span style="--shiki-light:#24292E;--shiki-dark:#E1E4E8;">=openid email profile groups</span></span>
<span class="line"><span style="--shiki-light:#c62739;--shiki-dark:#F97583;">MAILVET_OIDC_ACCOUNT</span><span style="--shiki-light:#24292E;--shiki-dark:#E1E4E8;">=acc_…</span></span>
<span class="line"><span style="--shiki-light:#c62739;--shiki-dark:#F97583;">MAILVET_OIDC_ROLE_CLAIM</span><span style="--shiki-light:#24292E;--shiki-dark:#E1E4E8;">=groups</span></span>
<span class="line"><span style="--shiki-light:#c62739;--shiki-dark:#F97583;">MAILVET_OIDC_ROLE_MAP</span><span style="--shiki-light:#24292E;--shiki-dark:#E1E4E8;">=</span><span style="--shiki-light:#c62739;--shiki-dark:#F97583;">mailvet-admins</span><span style="--shiki-light:#24292E;--shiki-dark:#E1E4E8;">=admin,</span><span style="--shiki-light:#c62739;--shiki-dark:#F97583;">mailvet-members</span><span style="--shiki-light:#24292E;--shiki-dark:#E1E4E8;">=member</span></span>
<span class="line"><span style="--shiki-light:#c62739;--shiki-dark:#F97583;">MAILVET_OIDC_SECOND_FACTOR</span><span style="--shiki-light:#24292E;--shiki-dark:#E1E4E8;">=mfa</span></span></code></pre></div><p>The issuer is that of the organization. With a custom authorization server it is <code>https://example.okta.com/oauth2/default</code>, and <code>groups</code> has to be a claim of that server. Okta leaves <code>email_verified</code> and groups out of ID tokens of this flow in part; Mailvet reads them at the user info endpoint. <code>amr</code> has <code>mfa</code> where a policy asked for more than one factor.</p></div>`);
}
var _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
	const ssrContext = useSSRContext();
	(ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("recipes-okta.md");
	return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
var recipes_okta_default = /*#__PURE__*/ _plugin_vue_export_helper_default(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export { __pageData, recipes_okta_default as default };
