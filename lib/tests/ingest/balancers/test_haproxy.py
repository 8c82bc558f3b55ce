"""haproxy: column sets of several versions, what is missing, what is refused."""

from pathlib import Path

from loadcurve import parse, tables

DATA = Path(__file__).parents[2] / "data"
STATS = (DATA / "haproxy/stats.txt").read_text()
OLD = "# pxname,svname,qcur,qmax,scur,smax,slim,stot,bin,bout,dreq,dresp,ereq,econ,eresp,wretr,wredis,status,weight,\n"


def test_columns_of_1_4_and_a_row_cut_short():
    parsed = parse(OLD + "b,i-1,0,0,2,1,,1,5,0,,0,,0,0,0,0,UP 1/2,1,\nb,BACKEND,0,0,0,0,12,0,11,\n\n")
    table = tables.check("balancer", parsed.tables["balancer"])
    assert table["kind"].tolist() == ["server", "backend"]
    assert table["health"].tolist()[0] == "UP 1/2" and table["active"].tolist() == [2, 0]
    assert table["latency_mean_s"].isna().all() and table["requests"].isna().all()
    assert parsed.warnings == ("line 3: 10 columns where the heading has 20",)


def test_addresses_quotes_and_minus_one():
    text = "pxname,svname,stot,rtime,ttime,addr,algo,check_desc,lastsess,type\n"
    text += 'b,s1,9,1,7,[2001:db8::3]:8080,,"Layer7 check, passed",-1,2\nb,BACKEND,9,1,-1,,roundrobin,,3,1\n'
    table = parse(text).tables["balancer"]
    assert table["server_address"].tolist()[0] == "2001:db8::3" and table["server_port"].tolist()[0] == "8080"
    assert table["latency_mean_s"].tolist()[0] == 0.007 and table["latency_mean_s"].isna().tolist()[1]
    assert table["scheduler"].tolist()[1] == "roundrobin"
    assert 'check_desc="Layer7 check, passed"' in table["other"].tolist()[0]


def test_a_series_after_show_info():
    parsed = parse(f"Name: HAProxy\nVersion: 2.6.12\n\n1795214674\n{STATS}\n1795214675\n{STATS}")
    assert parsed.tables["balancer"]["time"].nunique() == 2
