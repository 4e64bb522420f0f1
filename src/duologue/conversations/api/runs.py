"""Runs over HTTP: the commands that start them, their events, approvals, and pending messages.

Owns these routes and their JSON; `runs/service.py` does the work.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING

import msgspec
from fastapi import APIRouter, Request
from msgspec import Struct
from starlette.responses import Response

from duologue.conversations.runs.commands import Continue, Edit, NewMessage, Regenerate, RunCommand, Send
from duologue.errors import BadRequest
from duologue.http.event_log import last_event_id
from duologue.http.json_api import answer, body_of, checked_id, nothing, read_body, user_of
from duologue.http.openapi import documented
from duologue.http.sse import frame, resumable_stream
from duologue.values.conversations import Approval, PendingMessage
from duologue.values.runs import ListChanged, Run, RunEvent
from duologue.wire import api

if TYPE_CHECKING:
    from duologue.conversations.service import Service


class Waiting(Struct, frozen=True):
    """The message is pending until the running reply ends, or until its next step."""

    pending: PendingMessage


class WaitingMessages(Struct, frozen=True):
    pending: list[PendingMessage]


class Answered(Struct, frozen=True):
    """The decision; null when the question expired or its run ended first."""

    id: str
    decision: str | None


class ApprovalList(Struct, frozen=True):
    approvals: list[Approval]


RunBody = api.SendBody | api.RegenerateBody | api.ContinueBody | api.EditBody
_RUN_BODIES = (api.SendBody, api.RegenerateBody, api.ContinueBody, api.EditBody)
_encode = msgspec.json.Encoder().encode


def router(service: Service) -> APIRouter:
    """The endpoints."""
    routes = APIRouter(prefix="/api", tags=["runs"])
    _add_runs(routes, service)
    _add_approvals(routes, service)
    _add_pending(routes, service)
    return routes


def _add_runs(routes: APIRouter, service: Service) -> None:
    @routes.post(
        "/conversations/{id}/runs",
        summary="Send, regenerate, continue or edit: start a reply",
        status_code=202,
        openapi_extra=documented(
            body=_RUN_BODIES,
            answers=(Run, Waiting),
            status=202,
            says="The run (200 if it existed), or the pending message",
        ),
    )
    async def start_run(request: Request, id: str) -> Response:
        """Idempotent by `run`. The reply is written whether or not a client follows it."""
        body, user = api.read_run(await body_of(request)), user_of(request)
        conversation = checked_id(id)
        await service.stores.of(conversation).conversations.get(user, conversation)
        message = body.message.id if isinstance(body, api.SendBody) else ""
        if (known := await service.runs.lookup.find(user, conversation, body.run, message)) is not None:
            return answer(known)
        result = await service.runs.start(
            user, conversation, await _command(service, user, conversation, body)
        )
        return answer(Waiting(result) if isinstance(result, PendingMessage) else result, 202)

    @routes.get("/runs/{run}", summary="A run as it is now", openapi_extra=documented(answers=Run))
    async def read_run(request: Request, run: str) -> Response:
        return answer(await service.runs.lookup.get(user_of(request), checked_id(run, "run")))

    @routes.get(
        "/runs/{run}/events",
        summary="The events of a run, from its start to its end",
        openapi_extra=documented(
            answers=RunEvent,
            media="text/event-stream",
            says="Events, each with its number as `id`; the last is run_done",
            query={"after": "the number of the last event that was seen, as `Last-Event-ID` is"},
        ),
    )
    async def follow_run(request: Request, run: str) -> Response:
        """From the first event, or after the one named by `Last-Event-ID`; live while the run is active."""
        user, id = user_of(request), checked_id(run, "run")
        after = last_event_id(request) or 0
        await service.runs.lookup.get(user, id)
        return resumable_stream(_frames(service, user, id, after))

    @routes.post("/runs/{run}/stop", summary="Stop a run", openapi_extra=documented(answers=Run))
    async def stop_run(request: Request, run: str) -> Response:
        """The text so far is kept. A run that has ended is returned unchanged."""
        user, id = user_of(request), checked_id(run, "run")
        return answer(await service.runs.stop(user, id))

    @routes.post(
        "/runs/{run}/steer",
        summary="Add a message to a running reply",
        status_code=202,
        openapi_extra=documented(body=api.SteerBody, answers=Waiting, status=202),
    )
    async def steer_run(request: Request, run: str) -> Response:
        """It is added at the next step; tool calls that have not started are skipped."""
        body, user = await read_body(request, api.SteerBody), user_of(request)
        known = await service.runs.lookup.get(user, checked_id(run, "run"))
        content = await service.contents.stored_content(user, known.conversation, body.content)
        message = PendingMessage(body.id, known.conversation, content, "steer")
        return answer(Waiting(await service.runs.steer(user, known.id, message)), 202)


def _add_approvals(routes: APIRouter, service: Service) -> None:
    @routes.get(
        "/approvals",
        summary="Your open questions",
        openapi_extra=documented(answers=ApprovalList),
    )
    async def list_approvals(request: Request) -> Response:
        user = user_of(request)
        stores = (service.stores.durable, service.stores.temporary)
        approvals = [approval for store in stores for approval in await store.approvals.pending(user)]
        return answer(ApprovalList(sorted(approvals, key=lambda approval: (approval.created, approval.id))))

    @routes.post(
        "/approvals/{id}",
        summary="Answer a question",
        openapi_extra=documented(body=api.ApprovalAnswerBody, answers=Answered),
    )
    async def answer_approval(request: Request, id: str) -> Response:
        """A `decision` about a tool call (`tool` and `server` are remembered), or an `action` for a question of a tool server.
        The first answer counts and is returned."""
        body, user = await read_body(request, api.ApprovalAnswerBody), user_of(request)
        if (body.decision is None) == (body.action is None):
            raise BadRequest("Send either a decision or an action.", param="decision")
        reply = body.decision or body.action
        assert reply is not None
        stored = await service.runs.answer(user, checked_id(id), reply, dict(body.values))
        return answer(Answered(id, stored.decision))


def _add_pending(routes: APIRouter, service: Service) -> None:
    prefix = "/conversations/{id}/pending"

    @routes.get(
        prefix,
        summary="The pending messages of a conversation",
        openapi_extra=documented(answers=WaitingMessages),
    )
    async def list_pending(request: Request, id: str) -> Response:
        store = service.stores.of(checked_id(id))
        await store.conversations.get(user_of(request), id)
        return answer(WaitingMessages(await store.pending.of(id)))

    @routes.get(
        prefix + "/{pending}", summary="A pending message", openapi_extra=documented(answers=PendingMessage)
    )
    async def read_pending(request: Request, id: str, pending: str) -> Response:
        store = service.stores.of(checked_id(id))
        await store.conversations.get(user_of(request), id)
        return answer(await store.pending.get(id, checked_id(pending, "pending")))

    @routes.patch(
        prefix + "/{pending}",
        summary="Change a pending message",
        openapi_extra=documented(body=api.PendingChangeBody, answers=PendingMessage),
    )
    async def change_pending(request: Request, id: str, pending: str) -> Response:
        """A message that is queued while no reply is running is sent at once."""
        change, user = await read_body(request, api.PendingChangeBody), user_of(request)
        store = service.stores.of(checked_id(id))
        await store.conversations.get(user, id)
        changes: dict[str, object] = {}
        if change.content is not None:
            changes["content"] = await service.contents.stored_content(user, id, change.content)
        if change.options is not None:
            changes["options"] = change.options.options()
        if change.how is not None:
            changes["how"] = change.how
        message = await store.pending.change(id, checked_id(pending, "pending"), changes)
        await service.runs.pending_changed(user, message, is_queued=change.how == "queue")
        service.feed.publish(user, ListChanged(id))
        return answer(message)

    @routes.delete(
        prefix + "/{pending}",
        summary="Take back a pending message",
        status_code=204,
        openapi_extra=documented(status=204, says="It is no longer pending"),
    )
    async def remove_pending(request: Request, id: str, pending: str) -> Response:
        user, store = user_of(request), service.stores.of(checked_id(id))
        await store.conversations.get(user, id)
        if await store.pending.remove(id, checked_id(pending, "pending")):
            service.feed.publish(user, ListChanged(id))
        return nothing()


async def _command(service: Service, user: str, conversation: str, body: RunBody) -> RunCommand:
    options = body.options.options()
    match body:
        case api.SendBody():
            content = await service.contents.command_content(user, body.message.content)
            # Absent means the conversation's leaf ("" in the command); null means the beginning.
            parent = body.parent if "parent" in body.model_fields_set else ""
            if parent is None:
                parent = await service.editing.first_parent(conversation)
            return Send(body.run, NewMessage(body.message.id, content), parent, options, body.busy)
        case api.RegenerateBody():
            return Regenerate(body.run, body.message, options)
        case api.ContinueBody():
            return Continue(body.run, body.message, options)
        case api.EditBody():
            content = await service.contents.command_content(user, body.new.content)
            return Edit(body.run, body.message, NewMessage(body.new.id, content), options)


async def _frames(service: Service, user: str, run: str, after: int) -> AsyncGenerator[bytes]:
    async for logged in service.runs.viewer(user, run, after):
        yield frame(logged.seq, _encode(logged.event))
