"""The socket between the gateway and its parent."""

import os
import socket

from duologue.supervisor.link import VARIABLE, GatewayMessages, GatewayRestarts, Launch, SupervisorLink


def linked(listener: int | None = None) -> tuple[GatewayMessages, SupervisorLink, socket.socket]:
    ours, theirs = socket.socketpair()
    launch = Launch(theirs.detach(), listener, "localhost", GatewayRestarts(2, "signal 9, Killed", 5.0))
    environ = {VARIABLE: launch.encode()}
    link = SupervisorLink.from_environment(environ)
    assert link is not None
    assert environ == {}
    return GatewayMessages(ours), link, ours


def test_without_the_variable_there_is_no_supervisor():
    assert SupervisorLink.from_environment({}) is None


def test_a_gateway_reads_in_its_environment_how_often_it_was_started_again():
    _, link, ours = linked()
    assert link.restarts == (2, "signal 9, Killed", 5.0)
    assert (link.listener, link.host, link.parent) == (None, "localhost", os.getppid())
    assert not os.get_inheritable(link.socket.fileno())
    link.socket.close()
    ours.close()


def test_the_parent_gets_the_listening_socket_itself():
    reader, link, ours = linked()
    assert list(reader.read()) == []
    with socket.create_server(("127.0.0.1", 0)) as listener:
        link.listening(listener, "127.0.0.1", ("info", "json"), 25.0)
        address = listener.getsockname()
    link.ready()
    assert list(reader.read()) == [
        {"host": "127.0.0.1", "log": ["info", "json"], "drain": 25.0},
        {"ready": True},
    ]
    kept = reader.take_listener()
    assert kept is not None
    assert reader.take_listener() is None
    assert kept.getsockname() == address
    with socket.create_connection(address):
        kept.accept()[0].close()
    kept.close()
    link.socket.close()
    ours.close()


def test_the_next_gateway_has_the_socket_of_the_one_before():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        _, link, ours = linked(os.dup(listener.fileno()))
        assert link.listener is not None
        assert link.listener.getsockname() == listener.getsockname()
        link.listener.close()
    link.socket.close()
    ours.close()


def test_each_side_notices_the_end_of_the_other():
    reader, link, ours = linked()
    link.unwatched()
    link.socket.close()
    assert list(reader.read()) == [{"watched": False}]
    assert not reader.is_open
    assert list(reader.read()) == []
    ours.close()
    _, link, ours = linked()
    ours.close()
    assert link.is_closed()
    link.ready()  # nobody to tell, and no error
    link.socket.close()


def test_a_message_that_arrives_in_pieces_is_read_once_it_is_whole():
    ours, theirs = socket.socketpair()
    reader = GatewayMessages(ours)
    for byte in b'{"ready": true}\n{"wat':
        theirs.send(bytes([byte]))
        read = list(reader.read())
        if read:
            assert read == [{"ready": True}]
    theirs.send(b'ched": false}\n')
    assert list(reader.read()) == [{"watched": False}]
    ours.close()
    theirs.close()


def test_signs_of_life_never_wait_for_a_parent_that_does_not_read():
    reader, link, ours = linked()
    link.alive()
    assert list(reader.read()) == [{"alive": True}]
    link.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1)
    for _ in range(10_000):
        link.alive()
    said = list(reader.read())
    assert 0 < len(said) < 10_000
    assert all(message == {"alive": True} for message in said)
    link.socket.close()
    ours.close()
