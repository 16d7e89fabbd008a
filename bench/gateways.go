package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// gateways measures calls of our server over HTTP, and of our server on standard streams behind gateways from npm.
// mcp-remote is a gateway in the other direction: between standard streams and our server over HTTP.
func (b *bench) gateways() error {
	node, err := exec.LookPath("node")
	var dir string
	if err == nil {
		dir, err = filepath.Abs(filepath.Join(".cache", "gateways"))
	}
	if err == nil {
		err = npm(dir, "supergateway@4.0.0", "mcp-proxy@6.7.19", "mcp-remote@0.15.1")
	}
	if err != nil {
		b.report.leaveOut("gateways", err.Error())
		return nil
	}
	columns := b.report.columns
	defer func() { b.report.columns = columns }()
	b.report.columns = []string{ours, "supergateway", "mcp-proxy", "mcp-remote"}
	b.report.title("gateways in front of our server")
	installed := func(name string) string { return filepath.Join(dir, "node_modules", ".bin", name) }
	us, direct := b.serving(project("10")), b.overHTTP(project("10"))
	direct.name = ours
	web, err := startWeb(direct)
	if err != nil {
		return err
	}
	all := webList{web}
	defer func() { all.end() }()
	for _, p := range []program{
		{"supergateway", []string{node, installed("supergateway"), "--stdio", us.argv[0], "--outputTransport",
			"streamableHttp", "--stateful", "--logLevel", "none", "--port", "PORT"}, us.env},
		{"mcp-proxy", []string{node, installed("mcp-proxy"), "--host", "127.0.0.1", "--server", "stream", "--port", "PORT",
			"--", us.argv[0]}, us.env},
	} {
		s, err := startGateway(p)
		if err != nil {
			return err
		}
		all = append(all, s)
	}
	for _, links := range []int{1, 16} {
		n := max(b.rounds(10)*links, 3*links) // a short round: Node closes connections that are idle for five seconds
		loads, err := all.loads(links, handshakeVersion, "tools/call", "greet", callOf("greet"), want["greet"])
		var tasks []task
		for _, l := range loads {
			tasks = append(tasks, l.run(n))
		}
		var values [][]sample
		if err == nil {
			values, err = rounds(b.rounds(40), 1, tasks)
		}
		for _, l := range loads {
			l.close()
		}
		if err != nil {
			return err
		}
		rate := newFigure(fmt.Sprintf("calls of greet, %d connections", links), "", "/s")
		p50 := newFigure("  of them p50", "", "ms")
		for i, s := range all {
			rate.add(s.name, values[i][0])
			p50.add(s.name, values[i][1])
		}
		for _, f := range []*figure{rate, p50} {
			f.against("supergateway", "", nil)
			f.against("mcp-proxy", "", nil)
			b.report.put(f)
		}
	}
	return b.throughRemote(program{"mcp-remote", []string{node, installed("mcp-remote"), "http://" + web.addr + "/mcp"},
		environment()}, us)
}

// throughRemote compares calls over standard streams with those that mcp-remote passes on to our server over HTTP.
func (b *bench) throughRemote(remote, us program) error {
	guests, err := gather([]program{us, remote})
	if err != nil {
		return err
	}
	defer func() {
		for _, s := range guests {
			s.kill()
		}
	}()
	f := newFigure("call greet over standard streams", "", "ms")
	var tasks []task
	for _, s := range guests {
		q, err := s.prepare("tools/call", callOf("greet"), want["greet"])
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		tasks = append(tasks, timed(1, q.again))
	}
	values, err := rounds(b.rounds(100), 2, tasks)
	if err != nil {
		return err
	}
	for i, s := range guests {
		f.add(s.name, values[i][0])
	}
	f.against("mcp-remote", "", nil)
	b.report.put(f)
	return nil
}

// startGateway starts a gateway on a free port, and waits until it accepts connections.
func startGateway(p program) (*web, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	addr := listener.Addr().String()
	listener.Close()
	_, port, _ := net.SplitHostPort(addr)
	for i, arg := range p.argv {
		if arg == "PORT" {
			p.argv[i] = port
		}
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer null.Close()
	process, err := launch(p, null, null)
	if err != nil {
		return nil, err
	}
	s := &web{name: p.name, process: process, addr: addr}
	s.alarm = time.AfterFunc(longest, func() { process.Kill() })
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		conn, err := net.Dial("tcp", addr)
		if err == nil {
			conn.Close()
			return s, nil
		}
		if time.Now().After(end) {
			s.end()
			return nil, fmt.Errorf("%s does not serve", p.name)
		}
	}
}
