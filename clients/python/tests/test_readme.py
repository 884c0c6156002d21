"""The samples of README.md and of the documentation of the project, as a reader pastes them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import CLIENTS, Prepare

README = CLIENTS / "python" / "README.md"
GUIDE = CLIENTS.parent / "docs/clients.md"
QUICKSTART = CLIENTS.parent / "docs/quickstart.md"
POLICIES = CLIENTS.parent / "docs/policies.md"
WEBHOOKS = CLIENTS.parent / "docs/webhooks.md"
SAMPLE = re.compile(r"^## (.+?)\n|^```(\w+)(?: \[(\w+)\])?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ENVIRONMENT = {"PATH": os.environ["PATH"], "PYTHONPATH": str(CLIENTS / "python" / "src")}


def samples(heading: str, language: str = "python", page: Path = README) -> list[str]:
    """Those below a heading, in their order; of several tabs, that of Python."""
    under = ""
    found = []
    for title, kind, tab, code in SAMPLE.findall(page.read_text("utf-8")):
        under = title or under
        if under == heading and kind == language and tab in ("", "Python"):
            found.append(code)
    return found


def run(code: str, folder: Path, **environment: str) -> str:
    """What a program prints; what the comment behind ``print`` says is part of it."""
    (folder / "sample.py").write_text(code, "utf-8")
    ran = subprocess.run(
        [sys.executable, "sample.py"],
        cwd=folder,
        env=ENVIRONMENT | environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    for said in re.findall(r"print\(.*\)  # (.*)$", code, re.MULTILINE):
        assert said in ran.stdout
    return ran.stdout


def service(prepare: Prepare, case: str) -> dict[str, str]:
    values = prepare(case)
    return {"MAILVET_URL": values["url"], "MAILVET_KEY": values["key"]}


def test_install(tmp_path: Path) -> None:
    (tmp_path / "mailvet").symlink_to(CLIENTS.parent)
    project = tmp_path / "project"
    subprocess.run(
        [sys.executable, "-m", "venv", "--system-site-packages", str(project)], check=True
    )
    # What it depends on is installed already, and nothing is downloaded.
    environment = {
        "PATH": f"{project / 'bin'}:{os.environ['PATH']}",
        "PIP_NO_INDEX": "1",
        "PIP_NO_BUILD_ISOLATION": "0",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    }
    (sample,) = samples("Install", "sh")
    assert samples("Install", "sh", GUIDE) == [sample]
    subprocess.run(["bash", "-ec", sample], cwd=project, env=environment, check=True)
    code = "import mailvet, importlib.metadata as m; print(mailvet.__file__, m.version('mailvet'))"
    python = str(project / "bin" / "python")
    printed = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed.startswith(str(project)) and re.search(r" \d+\.\d+\.\d+\n$", printed)


def test_verify(prepare: Prepare, tmp_path: Path) -> None:
    first, asynchronous = samples("Verify")
    printed = run(first, tmp_path, **service(prepare, "verify"))
    expected = ["bad risky disposable_domain", "999", "domain customer.example.com", "domain example.org"]
    assert printed.splitlines() == expected
    run(asynchronous, tmp_path, **service(prepare, "verify"))
    (of_guide,) = samples("Verify an address", page=GUIDE)
    assert samples("", page=CLIENTS.parent / "README.md") == [of_guide]
    run(of_guide, tmp_path, **service(prepare, "verify"))


def test_clean_a_list(prepare: Prepare, tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    file.write_text("Name,Email\nAda,ada@example.com\nBob,domain_not_found@example.com\n")
    (sample,) = samples("Clean a list")
    printed = run(sample, tmp_path, **service(prepare, "lists-wait"))
    assert printed.splitlines()[-2:] == ["1", "domain_not_found@example.com domain_not_found"]
    assert (tmp_path / "people.results.csv").read_text("utf-8-sig").startswith("Name,Email,mailvet_status")
    (tmp_path / "people.results.csv").unlink()
    (of_guide,) = samples("Clean a list", page=GUIDE)
    assert "undeliverable=1" in run(of_guide, tmp_path, **service(prepare, "lists-wait"))
    assert (tmp_path / "people.results.csv").exists()


def test_guard_a_form(prepare: Prepare, tmp_path: Path) -> None:
    for page in (README, GUIDE):
        run(samples("Guard a form", page=page)[0], tmp_path, **service(prepare, "verify"))
    (by_policy,) = samples("Forms", page=POLICIES)
    run(by_policy, tmp_path, **service(prepare, "verify"))


def test_quickstart(prepare: Prepare, monkeypatch: pytest.MonkeyPatch) -> None:
    values = prepare("guard-accepts")
    (sample,) = samples("Protect a sign-up form", page=QUICKSTART)
    here = sample.replace("http://127.0.0.1:8025", values["url"])
    checked = namespace(here, monkeypatch, MAILVET_TEST_KEY=values["key"])["checked"]
    assert checked(" Ada@EXAMPLE.com", "203.0.113.7") == {"email": "Ada@example.com"}
    assert checked("disposable_domain@example.com") == {"message": "Use a permanent email address."}


def namespace(code: str, monkeypatch: pytest.MonkeyPatch, **environment: str) -> dict[str, Any]:
    """What the sample defines."""
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    made: dict[str, Any] = {"__name__": "sample"}
    exec(compile(code, "README.md", "exec"), made)
    return made


def test_receive_a_webhook(prepare: Prepare, monkeypatch: pytest.MonkeyPatch) -> None:
    cases = json.loads((CLIENTS / "cases.json").read_bytes())["cases"]
    case = next(one for one in cases if one["id"] == "webhook-genuine")
    given = case["steps"][0]["arguments"]
    (sample,) = samples("Receive a webhook")
    assert samples("Receive a webhook", page=GUIDE) == [sample]
    assert samples("Receive", page=WEBHOOKS) == [sample]
    app = namespace(sample, monkeypatch, MAILVET_WEBHOOK_SECRET=given["secret"])["app"]
    headers = prepare("webhook-genuine")["headers"]
    web = app.test_client()
    assert web.post("/webhook", data=given["payload"].encode(), headers=headers).status_code == 204
    assert web.post("/webhook", data=b"{}", headers=headers).status_code == 400


def test_django(prepare: Prepare, monkeypatch: pytest.MonkeyPatch) -> None:
    import django
    from django.conf import settings
    from django.core.exceptions import ValidationError
    from django.db.migrations.writer import MigrationWriter

    values = prepare("guard-accepts")
    settings.configure(MAILVET_URL=values["url"], MAILVET_KEY=values["key"])
    django.setup()
    made = namespace(samples("Guard a form")[1], monkeypatch)
    form = made["SignupForm"]({"email": " Ada@EXAMPLE.com "})
    assert form.is_valid() and form.cleaned_data == {"email": "Ada@example.com"}
    form = made["SignupForm"]({"email": "disposable_domain@example.com"})
    assert form.errors.get_json_data() == {
        "email": [{"message": "Use a permanent email address.", "code": "disposable"}]
    }
    form = made["SignupForm"]({"email": "typo@example.com"})
    assert form.errors == {"email": ["Did you mean typo@gmail.com?"]}
    assert form.errors.as_data()["email"][0].suggestion == "typo@gmail.com"
    form = made["SignupForm"]({"email": ""})
    assert form.errors.as_data()["email"][0].code == "required"

    subscriber = made["Subscriber"]
    subscriber(email="ada@example.com").full_clean()
    with pytest.raises(ValidationError) as raised:
        subscriber(email="role@example.com").full_clean()
    assert raised.value.error_dict["email"][0].code == "role"
    written, imports = MigrationWriter.serialize(subscriber._meta.get_field("email").validators[1])
    assert written == "mailvet.django.VerifiedEmail(role='reject')"
    assert imports == {"import mailvet.django"}


def test_flask_wtf(prepare: Prepare, monkeypatch: pytest.MonkeyPatch) -> None:
    from flask import Flask

    environment = service(prepare, "guard-client-ip")
    form_of = namespace(samples("Guard a form")[2], monkeypatch, **environment)["SignupForm"]
    from mailvet import Client

    with Client(environment["MAILVET_URL"], environment["MAILVET_KEY"]) as client:
        client.filters.add("203.0.113.7")
    app = Flask(__name__)
    app.config.update(SECRET_KEY="of a test", WTF_CSRF_ENABLED=False)

    def submitted(email: str, ip: str) -> Any:
        sent = {"method": "POST", "data": {"email": email}, "environ_base": {"REMOTE_ADDR": ip}}
        with app.test_request_context("/", **sent):
            form = form_of()
            return form.validate(), form.email.data, form.errors

    assert submitted(" Ada@EXAMPLE.com", "203.0.113.8") == (True, "Ada@example.com", {})
    errors = {"email": ["This email address cannot be used here."]}
    assert submitted("ada@example.com", "203.0.113.7") == (False, "ada@example.com", errors)
    errors = {"email": ["Use a permanent email address."]}
    assert submitted("disposable_domain@example.com", "203.0.113.8")[2] == errors


def test_pydantic(prepare: Prepare, monkeypatch: pytest.MonkeyPatch) -> None:
    import pydantic

    environment = service(prepare, "guard-accepts")
    if pydantic.VERSION.startswith("1."):
        model = pydantic_1(environment)
    else:
        model = namespace(samples("Guard a form")[3], monkeypatch, **environment)["Signup"]
    assert model(email=" Ada@EXAMPLE.com").email == "Ada@example.com"
    with pytest.raises(pydantic.ValidationError) as raised:
        model(email="typo@example.com")
    (error,) = raised.value.errors()
    assert error["msg"] == "Did you mean typo@gmail.com?"
    assert error["type"] in ("value_error.did_you_mean", "did_you_mean")
    assert error["ctx"]["suggestion"] == "typo@gmail.com"


def pydantic_1(environment: dict[str, str]) -> Any:
    """The sample is for Pydantic 2; this is what the module says of Pydantic 1."""
    from pydantic import BaseModel, validator

    from mailvet import Guard
    from mailvet.pydantic import verified_email

    guard = Guard(environment["MAILVET_URL"], environment["MAILVET_KEY"])

    class Signup(BaseModel):
        email: str
        _email = validator("email", allow_reuse=True)(verified_email(guard))

    return Signup
